"""Slash commands from files on the screen: called, found, told."""

from __future__ import annotations

from pathlib import Path

from keen_tui.frontends.shared.commands.slash import BUILT_IN, SlashCommands
from keen_tui.settings.added.custom_commands import CustomCommand
from tests.support.workspace import workspace

REVIEW = CustomCommand(
    name="git:review", description="looks at a branch", hint="[branch]", text="Review $1.", origin="yours"
)
TIDY = CustomCommand(name="tidy", description="tidies up", hint="", text="Tidy up.", origin="project")


async def test_the_text_of_the_file_is_sent_in_the_place_of_the_name(tmp_path: Path) -> None:
    async with workspace(tmp_path, commands=(REVIEW, TIDY)) as driver:
        await driver.type("/git:review")
        await driver.press("space", *"main", "enter")
        await driver.until(lambda: ("submit", "Review main.") in driver.session.calls)
        assert driver.written == ""


async def test_the_palette_offers_them_and_has_their_words_written_first(tmp_path: Path) -> None:
    async with workspace(tmp_path, commands=(REVIEW, TIDY)) as driver:
        driver.screen.parts.outbox.offer_command("git:review")
        assert driver.written == "/git:review "
        await driver.press("ctrl+p")
        await driver.pilot.pause()
        await driver.type("tidy")
        await driver.until_shown("tidies up")
        await driver.press("enter")
        await driver.until(lambda: ("submit", "Tidy up.") in driver.session.calls)


async def test_help_lists_them_with_what_they_take(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(120, 200), commands=(REVIEW, TIDY)) as driver:
        await driver.press("f1")
        await driver.until_shown("Your own commands")
        assert driver.shows("/git:review [branch]      looks at a branch")
        assert driver.shows("Commands of this project")


def test_what_begins_with_a_slash_and_calls_nothing_is_a_message() -> None:
    commands = SlashCommands((REVIEW,))
    for message in ("/etc/hosts", "/home: who is it", "a /model", "/model\nlist", "/ x", "/nothing of that"):
        assert commands.called(message) is None, message
    called = commands.called("/git:review\nmain")
    assert called
    assert (called.what, called.words) == (REVIEW, "main")
    assert commands.refusal(called) == ""
    unknown = commands.called("/git:revew")
    assert unknown
    assert commands.refusal(unknown).endswith("Did you mean /git:review?")


async def test_a_command_with_words_that_it_does_not_take_is_no_message(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.type("/retry now")
        await driver.press("escape", "enter")
        await driver.until_shown("/retry takes no arguments.")
        assert driver.written == "/retry now"
        assert not [call for call in driver.session.calls if call[0] in ("submit", "retry")]


def test_every_command_is_offered_with_what_it_takes_and_does() -> None:
    offered = SlashCommands((REVIEW,)).offered
    assert sorted(name for each in offered for name in each.names) == sorted((*BUILT_IN, "git:review"))
    assert (offered[-1].takes, offered[-1].help) == ("[branch]", "looks at a branch")
