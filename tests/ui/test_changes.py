"""/diff and /undo: what they show, what they ask, what they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from keen_tui.domain.reports import Changes
from keen_tui.frontends.tui.pages.changes.screen import ChangesScreen
from keen_tui.frontends.tui.pages.changes.undo_foot import UndoFoot
from keen_tui.memory.pending import PendingState
from tests.support.changes import CART, file, turn_three
from tests.support.fake_changes import FakeChanges
from tests.support.workspace import Driver, workspace

NARROW, WIDE = (80, 24), (120, 36)


@pytest.fixture
def changes() -> FakeChanges:
    third = turn_three()
    return FakeChanges({0: replace(third, turn=0, title="", unwatched=0), 3: third})


async def command(driver: Driver, text: str) -> None:
    await driver.type(text)
    await driver.press("enter")


async def opened(driver: Driver, text: str) -> None:
    """Run the command and wait until its screen takes keys."""
    await command(driver, text)
    await driver.until(lambda: driver.app.screen is not driver.screen)
    await driver.until_shown("esc")
    await driver.until_shown("net + self.tax(net)")


async def asked(driver: Driver, text: str) -> None:
    """The same, with the question ready for its answer."""
    await opened(driver, text)
    undo = driver.app.screen.query_one(UndoFoot)
    await driver.until(lambda: not undo.guarded)
    await driver.pilot.pause()


async def test_diff_shows_the_whole_session_file_by_file(tmp_path: Path, changes: FakeChanges) -> None:
    async with workspace(tmp_path, size=NARROW, changes=changes) as driver:
        await opened(driver, "/diff")
        assert driver.shows("Changes of this session")
        assert driver.shows("3 files   +5 −1")
        assert not driver.shows("made by shell commands")
        await driver.press("down")
        await driver.until_shown("assert Cart().total() == 0")
        await driver.press("down")
        await driver.until_shown("A binary file: 0.3 kB before, 0.5 kB after.")
        await driver.press("up", "up", "up")
        await driver.until_shown("net = self.discount(net)")
        await driver.press("enter", "escape")
        await driver.until(lambda: driver.app.screen is driver.screen)
        assert changes.calls == [("changes", 0)]


async def test_diff_of_a_turn_names_it_and_what_is_not_covered(tmp_path: Path, changes: FakeChanges) -> None:
    changes.turns[3] = replace(changes.turns[3], undone=True)
    async with workspace(tmp_path, size=WIDE, changes=changes) as driver:
        await opened(driver, "/diff 3")
        assert driver.shows("Changes of turn 3   tax is wrong when there is a discount")
        assert driver.shows("2 commands weren't tracked, so their changes can't be undone")
        assert driver.shows("undone   3 files")


async def test_old_and_new_stand_side_by_side_where_there_is_room(
    tmp_path: Path, changes: FakeChanges
) -> None:
    async with workspace(tmp_path, size=WIDE, changes=changes) as driver:
        await opened(driver, "/diff")
        row = driver.rows()[driver.row_with("10 -")]
        assert "10 +" in row, "a changed line is level with what it was"
        assert any("13 " in row and "15 " in row for row in driver.rows()), "both columns have their numbers"
        await driver.press("s")
        await driver.until(lambda: not any("10 -" in row and "10 +" in row for row in driver.rows()))
        assert driver.shows("side by side")
        await driver.press("s")
        await driver.until(lambda: any("10 -" in row and "10 +" in row for row in driver.rows()))


@pytest.mark.parametrize("is_new", [True, False])
async def test_a_new_and_a_deleted_file_have_the_whole_width(tmp_path: Path, *, is_new: bool) -> None:
    long = f"begin {'word ' * 18}end\n"
    one_sided = file("a.txt", None, long) if is_new else file("a.txt", long, None)
    changes = FakeChanges(
        {0: Changes(turn=0, title="", files=(one_sided, file("b.txt", "old\n" + long, "new\n" + long)))}
    )
    async with workspace(tmp_path, size=WIDE, changes=changes) as driver:
        await command(driver, "/diff")
        await driver.until_shown(long.strip())
        assert not driver.shows("inline")
        await driver.press("s", "down")
        await driver.until_shown("s inline")
        assert not driver.shows(long.strip()), "a changed file has two columns"
        await driver.press("up")
        await driver.until_shown(long.strip())


async def test_a_narrow_screen_has_one_column_and_becomes_two(tmp_path: Path, changes: FakeChanges) -> None:
    async with workspace(tmp_path, size=NARROW, changes=changes) as driver:
        await opened(driver, "/diff")
        await driver.press("s")
        await driver.pilot.pause()
        assert not any("10 -" in row and "10 +" in row for row in driver.rows())
        await driver.pilot.resize_terminal(*WIDE)
        await driver.until(lambda: any("10 -" in row and "10 +" in row for row in driver.rows()))


async def test_a_long_diff_scrolls_and_each_file_begins_at_its_top(tmp_path: Path) -> None:
    changes = FakeChanges()
    lines = "".join(f"line {number}\n" for number in range(1, 101))
    files = (file("a.txt", None, lines), file("b.txt", None, "first of b\n" + lines))
    changes.turns[0] = Changes(turn=0, title="", files=files)
    async with workspace(tmp_path, size=NARROW, changes=changes) as driver:
        await command(driver, "/diff")
        await driver.until_shown("line 1 ")
        await driver.press("end")
        await driver.until_shown("line 100")
        await driver.press("pageup")
        await driver.until(lambda: not driver.shows("line 100"))
        await driver.press("down")
        await driver.until_shown("first of b")


async def test_undo_asks_for_the_newest_turn_and_takes_it_back(tmp_path: Path, changes: FakeChanges) -> None:
    async with workspace(tmp_path, size=WIDE, changes=changes) as driver:
        await asked(driver, "/undo")
        assert driver.shows("Undo turn 3")
        assert driver.shows("Restore 3 files to their state before turn 3?")
        assert driver.shows("will be deleted (this turn created it): tests/test_cart.py")
        assert driver.shows("2 commands weren't tracked, so their changes can't be undone")
        assert not driver.shows("changed since")
        await driver.press("enter")
        await driver.until(lambda: ("undo", 3) in changes.calls)
        assert changes.calls == [("changes", -1), ("undo", 3)]


async def test_an_enter_that_was_meant_for_the_composer_undoes_nothing(
    tmp_path: Path, changes: FakeChanges
) -> None:
    async with workspace(tmp_path, size=NARROW, changes=changes) as driver:
        await asked(driver, "/undo")
        foot = driver.app.screen.query_one(UndoFoot)
        foot.guarded = True
        await driver.press("enter")
        assert isinstance(driver.app.screen, ChangesScreen)
        foot.guarded = False
        await driver.press("enter")
        await driver.until(lambda: ("undo", 3) in changes.calls)
        assert changes.calls.count(("undo", 3)) == 1


async def test_esc_keeps_the_changes(tmp_path: Path, changes: FakeChanges) -> None:
    async with workspace(tmp_path, size=NARROW, changes=changes) as driver:
        await asked(driver, "/undo 3")
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.screen)
        await driver.pilot.pause()
        assert changes.calls == [("changes", 3)]


async def test_files_changed_since_and_files_not_kept_are_named(tmp_path: Path, changes: FakeChanges) -> None:
    files = (
        file("src/cart.py", CART, CART.replace("net)", "net + self.tax(net))"), changed_since=True),
        file("data/big.csv", None, None, unkept="it is larger than 5 MB"),
    )
    changes.turns[3] = turn_three(files=files)
    async with workspace(tmp_path, size=NARROW, changes=changes) as driver:
        await asked(driver, "/undo")
        assert driver.shows("Restore 1 file to its state before turn 3?")
        assert driver.shows("▲ changed since: src/cart.py")
        assert driver.shows("can't be restored (its content wasn't saved): data/big.csv")
        await driver.press("down")
        await driver.until_shown("Not saved: it is larger than 5 MB.")
        await driver.press("enter")
        await driver.until(lambda: ("undo", 3) in changes.calls)


async def test_where_nothing_was_kept_there_is_nothing_to_take_back(
    tmp_path: Path, changes: FakeChanges
) -> None:
    changes.turns[3] = turn_three(files=(file("big.csv", None, None, unkept="it is larger than 5 MB"),))
    async with workspace(tmp_path, size=NARROW, changes=changes) as driver:
        await command(driver, "/undo")
        await driver.until_shown("Turn 3 can't be undone")
        foot = driver.app.screen.query_one(UndoFoot)
        await driver.until(lambda: not foot.guarded)
        await driver.press("enter")
        await driver.pilot.pause()
        assert driver.app.screen is not driver.screen
        assert ("undo", 3) not in changes.calls


async def test_undo_waits_for_the_turn_and_for_pending_work(tmp_path: Path, changes: FakeChanges) -> None:
    async with workspace(tmp_path, size=NARROW, changes=changes) as driver:
        driver.session.running = True
        await command(driver, "/undo")
        await driver.until_shown("A turn is running. Stop it first, then undo.")
        driver.session.running = False
        driver.session.pending = PendingState(calls=1)
        await command(driver, "/undo")
        await driver.until_shown("Finish the last turn first: retry or discard it, then undo.")
        assert changes.calls == []


async def test_what_there_is_nothing_of_is_one_sentence(tmp_path: Path, changes: FakeChanges) -> None:
    changes.turns = {4: Changes(turn=4, title="", files=(), unwatched=1), 3: turn_three(undone=True)}
    async with workspace(tmp_path, size=WIDE, changes=changes) as driver:
        await command(driver, "/diff 4")
        await driver.until_shown("Turn 4 changed no files. Keen doesn't track changes made by commands")
        await command(driver, "/diff")
        await driver.until_shown("This session changed no files.")
        await command(driver, "/undo 3")
        await driver.until_shown("The changes of turn 3 are already undone.")
        changes.refusal = "The changes of this session can't be read."
        await command(driver, "/undo")
        await driver.until_shown("The changes of this session can't be read.")


async def test_what_refuses_the_undo_is_said(tmp_path: Path, changes: FakeChanges) -> None:
    async with workspace(tmp_path, size=NARROW, changes=changes) as driver:
        await asked(driver, "/undo")
        changes.refusal = "A turn is running."
        await driver.press("enter")
        await driver.until_shown("A turn is running.")


async def test_words_that_are_no_turn_come_back(tmp_path: Path, changes: FakeChanges) -> None:
    async with workspace(tmp_path, size=NARROW, changes=changes) as driver:
        for words in ("/diff last", "/undo 0"):
            await command(driver, words)
            await driver.until_shown("takes the number of a turn, or no argument.")
            assert driver.written == words
            await driver.press("escape", "escape")
            await driver.until(lambda: driver.written == "")
        assert changes.calls == []


async def test_the_tour_keeps_no_changes(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=NARROW) as driver:
        await command(driver, "/diff")
        await driver.until_shown("Changes aren't recorded here.")


async def test_many_files_scroll_in_their_list(tmp_path: Path) -> None:
    changes = FakeChanges()
    files = tuple(file(f"f{number:02}.py", None, f"value = {number}\n") for number in range(40))
    changes.turns[0] = Changes(turn=0, title="", files=files)
    async with workspace(tmp_path, size=NARROW, changes=changes) as driver:
        await command(driver, "/diff")
        await driver.until_shown("34 below")
        await driver.press(*["down"] * 39)
        await driver.until_shown("value = 39")
        assert driver.shows("f39.py")
        assert not driver.shows("below")
