"""A sub-agent at work: its calls in Activity, its transcript on a page, its question with its name."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from keen_tui.domain.agents import WatchedAgent
from keen_tui.domain.bus import EventBus
from keen_tui.domain.display import FileDisplay
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.events import (
    AgentEvent,
    ApprovalRequested,
    OwnEvent,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnDone,
)
from keen_tui.domain.messages import ToolResult, TurnMemory
from keen_tui.frontends.tui.state.displays import PackedDisplay
from keen_tui.frontends.tui.state.state import ToolBlock
from keen_tui.frontends.tui.transcript.widget import Transcript
from keen_tui.text.highlighting import load
from tests.support import story
from tests.support.screen import strips_of
from tests.support.waiting import LIMIT
from tests.support.workspace import Driver, workspace

BEGUN: tuple[OwnEvent, ...] = (
    story.started(1, "find the price"),
    story.tool_started(1, "x", "grep_files", "price"),
)
DONE = TurnDone(
    turn=1,
    attempt=1,
    reason="stop",
    text="It is in cart.py.",
    turn_memory=TurnMemory(),
    calls=1,
    seconds=1.0,
    carried_bytes=1,
    trace_bytes=1,
)

ASKED = ApprovalRequested(
    turn=1,
    id="x",
    name="read_file",
    arguments={},
    target="/etc/hosts",
    question="Read this file?",
    why="outside the workspace",
    display=None,
    grant=None,
)


class FakeAgents:
    """One sub-agent at work, of the call `c`."""

    def __init__(self, begun: Sequence[OwnEvent] = BEGUN) -> None:
        self.begun = tuple(begun)
        self.bus = EventBus()
        self.stopped: list[str] = []

    async def watch(self, call_id: str, session_id: str) -> WatchedAgent:
        if call_id != "c":
            raise SessionRefused("This sub-agent hasn't begun.")
        return WatchedAgent("20261124-120000-abcdef", self.begun, self.bus.subscribe())

    def stop(self, call_id: str) -> None:
        self.stopped.append(call_id)


async def begun(driver: Driver, call_id: str = "c") -> None:
    """A turn has given a task to a sub-agent, which searches."""
    await driver.play(
        story.started(1, "go"),
        story.tool_started(1, call_id, "task", "explore: find the price"),
        AgentEvent(turn=1, id=call_id, agent="explore", event=BEGUN[1]),
    )


async def opened(driver: Driver) -> None:
    """Its entry in Activity is chosen, and enter pressed."""
    driver.screen.set_focus(driver.screen.sidebar.activity)
    await driver.press("enter")


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 12)])
async def test_its_transcript_is_live_and_a_key_stops_it_alone(tmp_path: Path, size: tuple[int, int]) -> None:
    agents = FakeAgents()
    async with workspace(tmp_path, sub_agents=agents, size=size) as driver:
        await begun(driver)
        if size[0] < 120:
            await driver.press("ctrl+b")
        await driver.until_shown("grep price")
        await opened(driver)
        await driver.until_shown("find the price")
        await driver.until_shown("0 calls")
        assert driver.shows("k stop it alone") and driver.shows("works")
        assert driver.shows("20261124-120000-abcdef") == (size[0] > 78)
        await driver.press("k")
        assert agents.stopped == ["c"]
        agents.bus.publish(DONE)
        await driver.until_shown("has ended")
        assert not driver.shows("k stop it alone")
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.screen)


async def test_only_what_comes_while_it_is_open_is_kept_packed(tmp_path: Path) -> None:
    def read(call: str) -> tuple[ToolStarted, ToolFinished]:
        result = ToolResult(text="", display=FileDisplay(path="cart.py", text="price = 17\n" * 200))
        start = story.tool_started(1, call, "read_file", "cart.py")
        return start, story.tool_finished(1, call, "read_file", "cart.py", result)

    agents = FakeAgents([BEGUN[0], *read("a")])
    async with workspace(tmp_path, sub_agents=agents) as driver:
        await begun(driver)
        await opened(driver)
        await driver.until_shown("works")
        for event in read("b"):
            agents.bus.publish(event)
        await driver.until_shown("2 calls")
        entries = driver.app.screen.query_one(Transcript).document.entries
        blocks = [entry.block for entry in entries if isinstance(entry.block, ToolBlock)]
        assert [isinstance(block.shown, PackedDisplay) for block in blocks] == [False, True]


async def test_colours_that_are_loaded_late_reach_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()

    def load_late(language: str, path: str) -> None:
        assert gate.wait(LIMIT)
        load(language, path)

    monkeypatch.setattr("keen_tui.frontends.tui.terminal.background.PATIENCE", 0)
    monkeypatch.setattr("keen_tui.frontends.tui.markdown.highlight.load", load_late)
    agents = FakeAgents()
    async with workspace(tmp_path, sub_agents=agents) as driver:
        await begun(driver)
        await opened(driver)
        await driver.until_shown("works")
        agents.bus.publish(TextDelta(turn=1, step=2, text="```zig\nconst price = 17;\n```\n\nSo.\n\n"))
        await driver.until_shown("const price")

        def runs() -> int:
            row = driver.row_with("const price")
            return sum(bool(segment.text.strip()) for segment in strips_of(driver.app)[row])

        plain = runs()
        gate.set()
        await driver.until(lambda: runs() > plain)


async def test_its_page_says_that_it_asks(tmp_path: Path) -> None:
    agents = FakeAgents()
    async with workspace(tmp_path, sub_agents=agents) as driver:
        await begun(driver)
        await opened(driver)
        await driver.until_shown("works")
        agents.bus.publish(ASKED)
        await driver.until_shown("asks you")
        assert driver.shows("esc back to its question")


async def test_one_that_has_not_begun_is_told(tmp_path: Path) -> None:
    async with workspace(tmp_path, sub_agents=FakeAgents()) as driver:
        await begun(driver, "d")
        await opened(driver)
        await driver.until_shown("This sub-agent hasn't begun.")


@pytest.mark.parametrize("size", [(120, 40), (60, 12)])
async def test_its_question_names_it(tmp_path: Path, size: tuple[int, int]) -> None:
    async with workspace(tmp_path, size=size) as driver:
        await begun(driver)
        await driver.play(replace(ASKED, id="c/x", agent="explore"))
        await driver.until_shown("Sub-agent explore: Read this file?")
