"""Saved sessions: the list, the search, and the commands that put another session on the screen."""

from __future__ import annotations

from pathlib import Path

from keen_tui.domain.events import Event, SessionOpened, SessionRestored
from keen_tui.domain.reports import SearchHit
from tests.support import story
from tests.support.fake_history import ELSEWHERE, FakeHistory, saved, sessions
from tests.support.session_list import LAST_ROW, command, on_workspace, opened_list, places
from tests.support.workspace import workspace


async def test_the_list_tells_what_each_session_is(tmp_path: Path) -> None:
    async with workspace(tmp_path, history=FakeHistory()) as driver:
        await opened_list(driver)
        rows = driver.rows()
        assert "● Fix the cart total" in rows[driver.row_with("Fix the cart total")]
        assert "open elsewhere" not in rows[driver.row_with("Fix the cart total")], "this program has it open"
        assert "open elsewhere" in rows[driver.row_with("import slow")]
        assert "forked" in rows[driver.row_with("nothing said yet")]
        assert "can't be opened" in rows[driver.row_with(LAST_ROW)]
        for fact in ("12 turns", "182 kB", "5 sessions", "this folder"):
            assert driver.shows(fact)
        assert not driver.shows("Parse dates")


async def test_enter_opens_the_session_before_this_one(tmp_path: Path) -> None:
    history = FakeHistory()
    async with workspace(tmp_path, history=history) as driver:
        await opened_list(driver)
        await driver.press("enter")
        await driver.until(lambda: ("open", "s4") in history.calls)
        assert on_workspace(driver)


async def test_titles_are_found_by_words_in_any_order(tmp_path: Path) -> None:
    history = FakeHistory()
    async with workspace(tmp_path, history=history) as driver:
        await opened_list(driver)
        await driver.type("CART dis")
        await driver.until_shown("1 of 5 sessions")
        assert driver.shows("Add a discount") and not driver.shows("Fix the cart")
        await driver.type("zz")
        await driver.until_shown("No session has that title. ctrl+f searches all sessions")


async def test_keys_typed_fast_find_before_enter_opens(tmp_path: Path) -> None:
    history = FakeHistory()
    async with workspace(tmp_path, history=history) as driver:
        await opened_list(driver)
        await driver.press(*"slow", "enter")
        await driver.until(lambda: ("open", "s3") in history.calls)


async def test_resume_takes_words_to_look_for(tmp_path: Path) -> None:
    async with workspace(tmp_path, history=FakeHistory()) as driver:
        await command(driver, "/resume import")
        await driver.until_shown("1 of 5 sessions")
        assert driver.shows("Why is the import slow")


async def test_tab_shows_the_sessions_of_all_folders(tmp_path: Path) -> None:
    async with workspace(tmp_path, history=FakeHistory()) as driver:
        await opened_list(driver)
        await driver.press("tab")
        await driver.until_shown("Parse dates")
        assert driver.shows(str(ELSEWHERE)) and driver.shows("all folders")
        assert driver.row_with("Parse dates") < driver.row_with("import slow"), "newest first"
        await driver.press("tab")
        await driver.until(lambda: not driver.shows("Parse dates"))


async def test_a_session_that_cannot_be_opened_says_why_and_is_not(tmp_path: Path) -> None:
    history = FakeHistory()
    async with workspace(tmp_path, history=history) as driver:
        await opened_list(driver)
        await driver.press("pagedown")
        await driver.until_shown("Its file was written by a newer Keen TUI.")
        assert not driver.shows("rename")
        await driver.press("enter", "ctrl+k", "ctrl+e", "escape")
        await driver.until(lambda: on_workspace(driver))
        assert history.calls == []


async def test_an_empty_list_says_so_and_a_list_that_comes_late_too(tmp_path: Path) -> None:
    history = FakeHistory(saved("p1", "Parse dates", workspace=ELSEWHERE))
    history.listed.clear()
    async with workspace(tmp_path, history=history) as driver:
        await driver.press("f3")
        await driver.until_shown("reading the sessions")
        history.listed.set()
        await driver.until_shown("No session is saved for this folder yet.")
        history.refusal = "The folder of sessions can't be read: permission denied."
        await driver.press("tab")
        await driver.until_shown("permission denied")


async def test_rows_out_of_view_are_counted_and_thousands_can_be_walked(tmp_path: Path) -> None:
    many = [saved(f"m{number}", f"session {number}", hours=number) for number in range(5_000)]
    async with workspace(tmp_path, history=FakeHistory(*many), size=(80, 24)) as driver:
        await driver.press("f3")
        await driver.until_shown("5,000 sessions")
        await driver.until_shown("below")
        await driver.press(*["pagedown"] * 4)
        await driver.until_shown("above")
        await driver.type("4999")
        await driver.until_shown("1 of 5,000 sessions")


async def test_hostile_titles_cannot_drive_the_terminal(tmp_path: Path) -> None:
    history = FakeHistory(
        saved("x1", "evil\x1b[2J\nline\u202e two", workspace=Path("/home/me/\x1b]0;x\x07shop")),
        here=Path("/home/me/\x1b]0;x\x07shop"),
    )
    history.hits = {
        "e": (SearchHit(session=history.kept[0], turn=1, before="\x1b[1m", words="e\u202e", after="\n"),)
    }
    async with workspace(tmp_path, history=history) as driver:
        await driver.press("f3", "tab")
        await driver.until_shown("evil line<U+202E> two")
        await driver.until_shown("/home/me/shop")
        await driver.press("ctrl+d")
        await driver.until_shown("? Delete evil line<U+202E> two")
        await driver.press("escape", "ctrl+f", "e")
        await driver.until_shown("turn 1")
        assert driver.shows("e<U+202E>")


# The search


async def test_words_are_found_in_all_sessions_and_open_at_their_turn(tmp_path: Path) -> None:
    history = FakeHistory()
    history.hits = {"discount": places()}
    async with workspace(tmp_path, history=history, size=(90, 30)) as driver:
        await opened_list(driver)
        await driver.press("ctrl+f")
        await driver.until_shown("Type words to search for")
        await driver.type("discount")
        await driver.until_shown("no discount here")
        assert driver.shows("3 places") and driver.shows("round the discount once")
        assert driver.row_with("Add a discount") + 1 == driver.row_with("turn 3")
        await driver.press("down", "enter")
        await driver.until(lambda: ("open", "s4") in history.calls)
        long_ago = [
            event
            for turn in range(1, 20)
            for event in (story.started(turn, f"message {turn}"), story.done(turn))
        ]
        await driver.play(SessionOpened(id="s4", restoring=True), *long_ago, SessionRestored())
        await driver.until_shown("message 11")
        assert not driver.shows("message 19"), "the view stands at the turn that was found"


def told(first: int, last: int) -> list[Event]:
    """Turns whose message says their number."""
    return [
        event
        for turn in range(first, last + 1)
        for event in (story.started(turn, f"message {turn} on discount"), story.done(turn))
    ]


async def test_a_place_beyond_the_newest_turns_is_shown_as_soon_as_it_is_read(tmp_path: Path) -> None:
    history = FakeHistory()
    history.hits = {"discount": places()}
    async with workspace(tmp_path, history=history, size=(90, 30)) as driver:
        await opened_list(driver)
        await driver.press("ctrl+f")
        await driver.type("discount")
        await driver.until_shown("no discount here")
        await driver.press("enter")
        await driver.until(lambda: ("open", "s4") in history.calls)
        await driver.play(SessionOpened(id="s4", restoring=True), *told(60, 79), SessionRestored())
        await driver.until_shown("message 79")
        await driver.play(SessionOpened(id="s4", restoring=True), *told(1, 79), SessionRestored())
        await driver.until_shown("3 of 79")
        await driver.until_shown("message 3 on discount")
        await driver.type("next")
        assert driver.written == "next"
        await driver.until_shown("3 of 79   ctrl+f find")
        await driver.press("escape")
        await driver.until(lambda: not driver.shows("3 of 79"))
        assert driver.written == "next"


async def test_the_newest_turns_of_a_long_session_stay_in_view_when_the_rest_is_read(tmp_path: Path) -> None:
    history = FakeHistory()
    async with workspace(tmp_path, history=history, size=(90, 30)) as driver:
        await driver.play(SessionOpened(id="s4", restoring=True), *told(60, 79), SessionRestored())
        await driver.until_shown("message 79")
        driver.screen.transcript.reveal(65)
        await driver.press("ctrl+f")
        await driver.type("message 66")
        await driver.until_shown("1 of 1")
        before = driver.rows()[2:20]
        assert any("message 65" in row for row in before)
        await driver.play(SessionOpened(id="s4", restoring=True), *told(1, 79), SessionRestored())
        await driver.until(lambda: len(driver.screen.state.turns) == 79)
        await driver.until_shown("1 of 1")
        assert driver.rows()[2:20] == before
        await driver.press("ctrl+f")
        await driver.until(lambda: driver.screen.focused_place == "composer")
        assert any("message 65" in row for row in driver.rows())


async def test_words_found_in_the_session_on_the_screen_light_up(tmp_path: Path) -> None:
    history = FakeHistory()
    here = sessions()[0]
    history.hits = {"discount": (SearchHit(session=here, turn=3, before="", words="discount", after=""),)}
    async with workspace(tmp_path, history=history, size=(90, 30)) as driver:
        await driver.play(SessionOpened(id="s5"), *told(1, 30), SessionRestored())
        await driver.type("a draft")
        await driver.press("f3")
        await driver.until_shown("Sessions")
        await driver.press("ctrl+f")
        await driver.type("discount")
        await driver.until_shown("1 place")
        await driver.press("enter")
        await driver.until_shown("3 of 30")
        assert driver.screen.focused_place == "composer", "who writes goes on writing"


async def test_only_the_newest_words_are_searched_for(tmp_path: Path) -> None:
    history = FakeHistory()
    history.hits = {"discount": places(), "d": places()[:1]}
    history.searched.clear()
    async with workspace(tmp_path, history=history) as driver:
        await opened_list(driver)
        await driver.press("ctrl+f", "d")
        await driver.until(lambda: ("search", "d") in history.calls)
        await driver.type("iscount")
        await driver.until_shown("searching")
        history.searched.set()
        await driver.until_shown("3 places")
        assert history.calls == [("search", "d"), ("search", "discount")]


async def test_the_first_places_are_shown_while_the_search_goes_on(tmp_path: Path) -> None:
    history = FakeHistory()
    history.hits, history.finds_slowly = {"discount": places()}, True
    history.searched.clear()
    async with workspace(tmp_path, history=history) as driver:
        await opened_list(driver)
        await driver.press("ctrl+f")
        await driver.type("discount")
        await driver.until_shown("1 place")
        history.searched.set()
        await driver.until_shown("3 places")


async def test_the_newest_sessions_of_thousands_are_shown_before_all_are_read(tmp_path: Path) -> None:
    many = (saved(f"n{number}", f"Task {number}", hours=number) for number in range(1, 2_001))
    history = FakeHistory(*many)
    history.lists_slowly = True
    history.listed.clear()
    async with workspace(tmp_path, history=history) as driver:
        await driver.press("f3")
        await driver.until_shown("Task 1 ")
        await driver.press("down", "down")
        await driver.type("Task 1999")
        await driver.until_shown("reading the sessions")
        history.listed.set()
        await driver.until_shown("1 of 2,000 sessions")
        await driver.until_shown("Task 1999")


async def test_words_that_stand_nowhere_and_a_search_that_fails_are_sentences(tmp_path: Path) -> None:
    history = FakeHistory()
    async with workspace(tmp_path, history=history) as driver:
        await opened_list(driver)
        await driver.press("ctrl+f")
        await driver.type("nowhere")
        await driver.until_shown("No session contains these words.")
        history.refusal = "The sessions can't be searched: too many open files."
        await driver.type("s")
        await driver.until_shown("too many open files")
        await driver.press("escape")
        await driver.until_shown("No session has that title")
        await driver.press("escape")
        await driver.until(lambda: on_workspace(driver))


async def test_a_place_that_was_found_is_forked_up_to_its_turn(tmp_path: Path) -> None:
    history = FakeHistory()
    history.hits = {"discount": places()}
    async with workspace(tmp_path, history=history) as driver:
        await opened_list(driver)
        await driver.press("ctrl+f")
        await driver.type("discount")
        await driver.until_shown("no discount here")
        await driver.press("down")
        await driver.until_shown("fork up to turn 11")
        await driver.press("ctrl+k")
        await driver.until(lambda: ("fork", "s4", 11) in history.calls)


# Rename and delete
