"""Skills on the screen: called by name, listed, unloaded."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.events import SkillCalled, TurnStarted
from keen_tui.domain.facts.skill_used import SkillUsed
from keen_tui.domain.messages import CalledSkill
from keen_tui.frontends.shared.commands.command import CommandContext, WordsRefused
from keen_tui.frontends.shared.commands.skills import SKILLS
from keen_tui.frontends.shared.commands.slash import SlashCommands
from keen_tui.frontends.shared.pages import ShownSkill, SkillsPage
from keen_tui.settings.added.custom_commands import CustomCommand
from keen_tui.settings.added.skills import Skill
from tests.support.workspace import workspace
from tests.unit.test_shared_commands import At

PDF = Skill(
    name="pdf",
    description="Fills PDF forms.",
    folder=Path("/home/me/.claude/skills/pdf"),
    file="SKILL.md",
    where="~/.claude/skills",
    origin="yours",
)
DEPLOY = replace(PDF, name="deploy", hint="[where]", for_model=False, remarks=("it has no name",))
STYLE = replace(PDF, name="style", for_person=False)
USED = (SkillUsed(name="pdf", bytes=4_200), SkillUsed(name="gone", bytes=900))


async def test_a_skill_is_called_by_its_name_and_the_call_is_what_is_sent(tmp_path: Path) -> None:
    async with workspace(tmp_path, skills=(PDF, STYLE)) as driver:
        await driver.type("/pdf")
        await driver.until_shown("Fills PDF forms.")
        await driver.press("space", *"form", "enter")
        await driver.until(lambda: ("submit", "/pdf form") in driver.session.calls)
        driver.session.publish(
            TurnStarted(turn=1, attempt=1, text="/pdf form"),
            SkillCalled(turn=1, skill=CalledSkill(name="pdf", text="long", bytes=4_200)),
        )
        await driver.until_shown("skill pdf, 4.2 kB")
        await driver.until_shown("◆ skill pdf")


async def test_the_palette_writes_the_name_for_words_to_follow(tmp_path: Path) -> None:
    async with workspace(tmp_path, skills=(PDF,)) as driver:
        driver.screen.parts.outbox.offer_command("pdf")
        assert driver.written == "/pdf "


async def test_help_has_a_part_for_skills(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(120, 200), skills=(PDF, DEPLOY, STYLE)) as driver:
        await driver.press("f1")
        await driver.until_shown("/deploy [where]")
        assert driver.shows("/pdf [words]              Fills PDF forms.")
        assert not driver.shows("/style")


async def test_the_list_unloads_a_skill_and_writes_a_call(tmp_path: Path) -> None:
    async with workspace(tmp_path, skills=(PDF, DEPLOY, STYLE)) as driver:
        driver.session.skills_in_use = USED
        await driver.type("/skills")
        await driver.press("enter")
        await driver.until_shown("4 skills")
        assert driver.shows("deploy")
        assert driver.shows("it has no name")
        assert driver.shows("used by you only, with /deploy")
        await driver.press("down")
        await driver.until_shown("not here any more")
        await driver.press("down", "x")
        await driver.until(lambda: ("unload", "pdf") in driver.session.calls)
        await driver.until_shown("Unloaded pdf; later turns won't see it")
        await driver.press("enter")
        await driver.until(lambda: driver.written == "/pdf ")


def test_a_call_is_found_among_commands_and_skills() -> None:
    review = CustomCommand(name="inspect", description="d", hint="", text="Review it.", origin="yours")
    commands = SlashCommands((review,), (PDF, STYLE))
    called = commands.called("/PDF a\nb")
    assert called
    assert (called.what, called.message) == (PDF, "/pdf a\nb")
    for message, sent in (("/inspect", "Review it."), ("/pdf", "/pdf"), ("/retry", None), ("/style", None)):
        found = commands.called(message)
        assert found
        assert found.message == sent


async def shown(at: At, words: str = "", *skills: Skill) -> list[ShownSkill]:
    setup = replace(at.context.setup, skills=skills)
    await SKILLS.does(CommandContext(at.person, setup), words)
    if not at.person.shown:
        return []
    (page,) = at.person.shown
    assert isinstance(page, SkillsPage)
    return list(page.skills)


async def test_the_command_lists_what_is_here_and_what_is_in_use(tmp_path: Path) -> None:
    at = At(tmp_path)
    at.session.skills_in_use = USED
    listed = await shown(at, "", PDF, STYLE)
    assert [(skill.name, skill.used_bytes, skill.used_by) for skill in listed] == [
        ("gone", 900, "can't be used"),
        ("pdf", 4_200, "used by you, with /pdf, and by the model"),
        ("style", None, "used by the model only"),
    ]


async def test_the_command_unloads_and_says_what_it_takes(tmp_path: Path) -> None:
    at = At(tmp_path)
    await shown(at, "unload pdf", PDF)
    assert at.session.calls[-1] == ("unload", "pdf")
    await shown(at, "away pdf", PDF)
    assert at.session.calls[-2:] == [("unload", "pdf")] * 2
    assert at.person.said == ["Unloaded pdf; later turns won't see it. You can use it again at any time."] * 2
    with pytest.raises(WordsRefused, match="/skills unload"):
        await shown(at, "pdf", PDF)
    with pytest.raises(SessionRefused, match="no skills here"):
        await shown(at)
