"""Files opened in the editor from the transcript, the panels and the changes. There is no terminal to leave
here, so that an editor is never started: what is said then tells that one would have been."""

from __future__ import annotations

from pathlib import Path

from keen_tui.domain.display import CommandDisplay
from keen_tui.domain.events import ShellFinished, ShellStarted
from keen_tui.domain.messages import ToolResult, TurnMemory
from keen_tui.frontends.tui.pages.changes.screen import ChangesScreen
from tests.support import story
from tests.support.changes import turn_three
from tests.support.fake_changes import FakeChanges
from tests.support.workspace import workspace

MEMORY = TurnMemory(files_changed=("src/cart.py",))
WOULD_OPEN = "An editor can't be opened from here."


async def test_a_block_opens_its_file_or_says_that_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    async with workspace(tmp_path) as driver:
        await driver.play(*story.discount_turn(1))
        driver.screen.transcript.focus()
        assert driver.screen.transcript.reveal(1, "d2")
        await driver.press("e")
        await driver.until_shown("src/cart.py isn't a file here.")
        (tmp_path / "src" / "cart.py").write_text("net = 1\n")
        await driver.press("e")
        await driver.until_shown(WOULD_OPEN)
        await driver.press("home", "e")
        await driver.until_shown("No file is named here.")


async def test_a_row_of_the_panels_opens_its_file_and_shows_its_changes(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "cart.py").write_text("net = 1\n")
    async with workspace(tmp_path, changes=FakeChanges({1: turn_three(turn=1)})) as driver:
        await driver.play(*story.discount_turn(1), *story.edit(1, "d4"), story.done(1, memory=MEMORY))
        driver.screen.sidebar.turn_memory.focus()
        await driver.pilot.pause()
        await driver.press("e")
        await driver.until_shown(WOULD_OPEN)
        await driver.press("d")
        await driver.until(lambda: isinstance(driver.app.screen, ChangesScreen))
        await driver.until_shown("Changes of turn 1")
        await driver.press("e")
        await driver.until_shown(WOULD_OPEN)
        await driver.press("down", "e")
        await driver.until_shown("tests/test_cart.py isn't a file here.")


async def test_a_command_before_the_first_turn_can_be_shown_and_has_no_changes(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    ran = ToolResult(text="", display=CommandDisplay(command="lint", output="a.py:1: odd", exit_code=0))
    async with workspace(tmp_path) as driver:
        await driver.play(
            ShellStarted(turn=0, id="s1", command="lint"),
            ShellFinished(turn=0, id="s1", command="lint", result=ran, seconds=0.1),
        )
        driver.screen.sidebar.activity.focus()
        await driver.pilot.pause()
        await driver.press("d")
        await driver.until_shown("No turn has changed anything yet.")
        await driver.press("e")
        await driver.until_shown(WOULD_OPEN)
        await driver.press("enter")
        await driver.until(lambda: driver.screen.transcript.has_focus)


async def test_a_block_without_a_link_says_so(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(*story.discount_turn(1))
        driver.screen.transcript.focus()
        await driver.press("home", "o")
        await driver.until_shown("No web page is named here.")
