"""The definitions of sub-agents, on the screen and line by line."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from keen_tui.domain.errors import SessionRefused
from keen_tui.frontends.shared.commands.agents import AGENTS, rights_of
from keen_tui.frontends.shared.commands.command import CommandContext
from keen_tui.frontends.shared.pages import AgentsPage
from keen_tui.settings.added.agents import BUILT_IN, AgentDefinition
from tests.support.workspace import Driver, workspace
from tests.unit.test_shared_commands import At

REVIEWER = AgentDefinition(
    name="reviewer",
    description="Reviews changes before they are committed.",
    instructions="Read the diff.\n\nThen say what is wrong.",
    tools=("read_file", "bash"),
    model="small-model",
    mode="plan",
    max_steps=12,
    source=".claude/agents/reviewer.md",
    remarks=("Keen ignores hooks in it",),
)
AGENTS_HERE = (*BUILT_IN, REVIEWER)
PROBLEM = "The sub-agent in ~/.claude/agents/x.md isn't used: its mode is fast."


async def open_page(driver: Driver) -> None:
    await driver.type("/agents")
    await driver.press("enter")
    await driver.until_shown("esc back")


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 12)])
async def test_they_are_listed_and_enter_shows_the_instructions(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with workspace(tmp_path, agents=AGENTS_HERE, size=size) as driver:
        await open_page(driver)
        assert driver.shows("3 sub-agents")
        assert "reads only" in driver.rows()[driver.row_with("explore")]
        assert "all tools" in driver.rows()[driver.row_with("general")]
        assert "2 tools" in driver.rows()[driver.row_with("reviewer")]
        assert ".claude/ag" in driver.rows()[driver.row_with("reviewer")]
        await driver.press("down", "down", "enter")
        await driver.until_shown("Reviews changes before they are committed.")
        for text in ("tools: read_file, bash", "Keen ignores hooks in it", "Read the diff."):
            assert driver.shows(text)
        await driver.press("escape", "escape")
        await driver.until(lambda: driver.app.screen is driver.screen)


async def test_what_is_wrong_is_listed_too(tmp_path: Path) -> None:
    async with workspace(tmp_path, agents=AGENTS_HERE, agent_problems=(PROBLEM,)) as driver:
        await open_page(driver)
        assert driver.shows("1 problem")
        assert driver.shows(PROBLEM)
        await driver.press("end", "enter")
        await driver.until_shown("Sub-agents")
        assert driver.shows(PROBLEM)


async def test_where_there_are_none_the_command_says_so(tmp_path: Path) -> None:
    with pytest.raises(SessionRefused, match="no sub-agents here"):
        await AGENTS.does(At(tmp_path).context, "")


async def test_the_command_shows_what_is_defined_here(tmp_path: Path) -> None:
    at = At(tmp_path)
    setup = replace(at.context.setup, agents=AGENTS_HERE, agent_problems=(PROBLEM,))
    await AGENTS.does(CommandContext(at.person, setup), "")
    assert at.person.shown == [AgentsPage(AGENTS_HERE, (PROBLEM,))]


def test_what_a_sub_agent_may_do_in_words() -> None:
    assert [rights_of(agent) for agent in AGENTS_HERE] == [
        ("reads only",),
        ("all tools",),
        ("2 tools", "model small-model", "mode plan", "at most 12 steps"),
    ]
