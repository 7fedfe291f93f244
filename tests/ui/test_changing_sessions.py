"""What is done with saved sessions: renamed, deleted, opened, forked, exported."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.domain.events import (
    Compacted,
    CompactionDelta,
    CompactionStarted,
    MessageTakenBack,
    QueueChanged,
    SessionOpened,
    SessionRenamed,
    SessionRestored,
)
from keen_tui.domain.messages import TurnMemory
from tests.support import story
from tests.support.fake_history import FakeHistory
from tests.support.session_list import PENDING, answer, command, on_workspace, opened_list
from tests.support.workspace import workspace


async def test_a_session_is_renamed_in_its_row(tmp_path: Path) -> None:
    history = FakeHistory()
    async with workspace(tmp_path, history=history) as driver:
        await opened_list(driver)
        await driver.press("ctrl+e")
        await driver.until_shown("keep the title")
        await driver.type(" again")
        await driver.until_shown("Add a discount to the cart again")
        await driver.press("enter")
        await driver.until(lambda: ("rename", "s4", "Add a discount to the cart again") in history.calls)
        await driver.until_shown("enter open")
        assert driver.shows("Add a discount to the cart again")
        await driver.type("again")
        await driver.until_shown("1 of 5 sessions")


async def test_a_title_typed_fast_is_not_taken_for_a_search(tmp_path: Path) -> None:
    history = FakeHistory()
    async with workspace(tmp_path, history=history) as driver:
        await opened_list(driver)
        await driver.press("ctrl+e", "ctrl+u", *"tax", "enter", *"tax")
        await driver.until_shown("1 of 5 sessions")
        assert ("rename", "s4", "tax") in history.calls


async def test_a_title_is_left_as_it_was_by_esc_and_never_emptied(tmp_path: Path) -> None:
    history = FakeHistory()
    async with workspace(tmp_path, history=history) as driver:
        await opened_list(driver)
        await driver.press("ctrl+e")
        await driver.until_shown("keep the title")
        await driver.press("ctrl+u", "enter")
        await driver.until_shown("A title needs at least one word.")
        await driver.press("down", "tab", "x", "escape")
        await driver.until_shown("Add a discount to the cart")
        assert history.calls == [] and not driver.shows("tab this folder")


async def test_a_session_is_deleted_only_after_the_question(tmp_path: Path) -> None:
    history = FakeHistory()
    async with workspace(tmp_path, history=history) as driver:
        await opened_list(driver)
        await driver.press("ctrl+d")
        await driver.until_shown("? Delete Add a discount to the cart and its 12 turns for good?")
        await driver.press("escape")
        await driver.until(lambda: not driver.shows("Delete Add"))
        await driver.press("ctrl+d", "down", "enter")
        await driver.until(lambda: on_workspace(driver))
        assert ("delete", "s4") not in history.calls, "another key takes the question back"
        await opened_list(driver)
        await driver.press("ctrl+d", "enter")
        await driver.until(lambda: ("delete", "s5") in history.calls)
        await driver.until_shown("4 sessions")
        await driver.press("enter")
        await driver.until(lambda: history.calls[-1] == ("open", "s4"))


async def test_the_session_on_the_screen_is_not_deleted(tmp_path: Path) -> None:
    history = FakeHistory()
    async with workspace(tmp_path, history=history) as driver:
        await opened_list(driver)
        await driver.press("up", "ctrl+d")
        await driver.until_shown("This is the session on the screen.")
        await driver.press("enter")
        await driver.until(lambda: on_workspace(driver))
        assert history.calls == []


async def test_what_fails_in_the_list_is_a_sentence_there(tmp_path: Path) -> None:
    history = FakeHistory()
    async with workspace(tmp_path, history=history) as driver:
        await opened_list(driver)
        history.refusal = "s4.jsonl can't be written: no space left."
        await driver.press("ctrl+d", "enter")
        await driver.until_shown("no space left")
        assert driver.shows("Add a discount")


# What replaces the session


async def test_pending_work_is_asked_about_before_another_session_takes_its_place(tmp_path: Path) -> None:
    history = FakeHistory()
    async with workspace(tmp_path, history=history) as driver:
        driver.session.pending = PENDING
        await command(driver, "/new")
        await driver.until_shown("Begin a new session?")
        await answer(driver, "1")
        await driver.until(lambda: driver.screen.question_pane.question is None)
        await command(driver, "/clear")
        await driver.until_shown("Begin a new session?")
        await answer(driver, "2")
        await driver.until(lambda: ("retry",) in driver.session.calls)
        assert history.calls == []
        await opened_list(driver)
        await driver.press("enter")
        await driver.until_shown("Open Add a discount to the cart?")
        await answer(driver, "3")
        await driver.until(lambda: ("open", "s4") in history.calls)


async def test_a_session_open_elsewhere_is_forked_or_left(tmp_path: Path) -> None:
    history = FakeHistory()
    history.elsewhere = {"s3"}
    async with workspace(tmp_path, history=history) as driver:
        for number in ("2", "1"):
            await opened_list(driver)
            await driver.press("down", "enter")
            await driver.until_shown("Another program has this session open.")
            assert driver.shows("Why is the import slow")
            assert history.calls == []
            await answer(driver, number)
        await driver.until(lambda: ("fork", "s3", 0) in history.calls)


async def test_opening_that_takes_its_time_is_said_and_what_was_there_stays(tmp_path: Path) -> None:
    history = FakeHistory()
    async with workspace(tmp_path, history=history) as driver:
        await driver.play(story.started(1, "the first words"), story.done(1))
        history.changed.clear()
        await opened_list(driver)
        await driver.press("enter")
        await driver.until_shown("opening the session")
        await driver.play(SessionOpened(id="s4", restoring=True), story.started(1, "other words"))
        assert driver.shows("the first words") and driver.shows("opening the session")
        await command(driver, "/new")
        await driver.until_shown("another session is already being opened")
        history.changed.set()
        await driver.play(story.done(1), SessionRestored())
        await driver.until_shown("other words")
        await driver.until(lambda: not driver.shows("opening the session"))
        assert not driver.shows("the first words")


@pytest.mark.parametrize("refusal", ["", "It can't be read."])
async def test_a_message_sent_while_a_session_is_opened_is_for_that_session(
    tmp_path: Path, refusal: str
) -> None:
    history = FakeHistory()
    history.changed.clear()
    async with workspace(tmp_path, history=history) as driver:
        await opened_list(driver)
        await driver.press("enter")
        await driver.until_shown("opening the session")
        await command(driver, "go on")
        assert ("submit", "go on") not in driver.session.calls
        history.refusal = refusal
        history.changed.set()
        if refusal:
            await driver.until(lambda: driver.written == "go on")
        else:
            await driver.until(lambda: ("submit", "go on") in driver.session.calls)


async def test_a_session_that_cannot_be_opened_leaves_everything_as_it_was(tmp_path: Path) -> None:
    history = FakeHistory()
    history.changed.clear()
    async with workspace(tmp_path, history=history) as driver:
        await driver.play(story.started(1, "the first words"), story.done(1))
        await opened_list(driver)
        await driver.press("enter")
        await driver.until_shown("opening the session")
        history.refusal = "s4.jsonl can't be read: permission denied."
        history.changed.set()
        await driver.until_shown("permission denied")
        assert driver.shows("the first words") and not driver.shows("opening the session")


@pytest.mark.parametrize("restoring", [True, False])
async def test_a_session_begins_without_traces_of_the_one_before(tmp_path: Path, restoring: bool) -> None:
    async with workspace(tmp_path, history=FakeHistory(), size=(120, 30)) as driver:
        old = [
            event
            for turn in range(1, 9)
            for event in (
                story.started(turn, f"former {turn}"),
                *story.edit(turn, f"c{turn}"),
                story.done(turn),
            )
        ]
        await driver.play(*old)
        await driver.press("tab", "up", "up", "enter", "pageup", "pageup")
        await driver.until(lambda: not driver.screen.transcript.viewport.following)
        driver.screen.prompt.write("my draft")
        new = [
            event
            for turn in range(1, 9)
            for event in (story.started(turn, f"new {turn}"), *story.edit(turn, f"c{turn}"), story.done(turn))
        ]
        await driver.play(
            SessionOpened(id="s4", title="Another thing", restoring=restoring), *new, SessionRestored()
        )
        await driver.until_shown("turn 8 done")
        assert not driver.shows("former") and driver.shows("new 8")
        assert driver.screen.transcript.viewport.following
        assert driver.shows("def total"), "an edit is unfolded again, as usual"
        assert driver.shows("Another thing") and driver.written == "my draft"
        assert driver.screen.prompt.has_focus
        await driver.play(SessionRenamed(title="A better name"))
        assert driver.shows("A better name")
        await driver.play(SessionOpened(id="s9"))
        assert not driver.shows("new 8") and driver.shows("no turn yet")


@pytest.mark.parametrize("restoring", [True, False])
async def test_what_waited_in_the_queue_of_a_session_that_is_left_comes_into_the_composer(
    tmp_path: Path, restoring: bool
) -> None:
    async with workspace(tmp_path, history=FakeHistory()) as driver:
        await driver.play(story.started(1, "hi"), QueueChanged(texts=("and the tax",)))
        driver.screen.prompt.write("my draft")
        queued = QueueChanged(texts=("and the tax", "then test it"))
        opened = SessionOpened(id="s4", restoring=restoring)
        await driver.play(queued, opened, *([SessionRestored()] if restoring else []))
        await driver.until(lambda: driver.written == "and the tax\nthen test it\nmy draft")
        await driver.until_shown("Your queued messages are back in the composer.")
        await driver.play(story.started(1, "hello"))
        await driver.until_shown("hello")
        assert driver.written == "and the tax\nthen test it\nmy draft", "once"


async def test_messages_taken_back_long_ago_do_not_come_into_the_composer(tmp_path: Path) -> None:
    async with workspace(tmp_path, history=FakeHistory()) as driver:
        await driver.play(
            SessionOpened(id="s4", restoring=True),
            story.started(1, "hi"),
            MessageTakenBack(turn=1, text="hi"),
        )
        await driver.play(
            story.started(1, "hello"), story.done(1), SessionRestored(skipped="2 rows were lost.")
        )
        await driver.until_shown("2 rows were lost.")
        assert driver.written == ""


# Commands with words


async def test_a_session_is_forked_whole_or_up_to_a_turn(tmp_path: Path) -> None:
    history = FakeHistory()
    async with workspace(tmp_path, history=history) as driver:
        await command(driver, "/fork")
        await driver.until_shown("Nothing to fork yet")
        await driver.play(story.started(1, "one"), story.done(1), story.started(2, "two"), story.done(2))
        await command(driver, "/fork 7")
        await driver.until_shown("There is no turn 7. This session has the turns 1 to 2.")
        assert driver.written == "/fork 7"
        await command(driver, "/fork 1")
        await driver.until(lambda: ("fork", "", 1) in history.calls)
        await driver.until(lambda: driver.written == "")
        await command(driver, "/fork")
        await driver.until(lambda: ("fork", "", 0) in history.calls)


async def test_the_session_is_renamed_by_command(tmp_path: Path) -> None:
    history = FakeHistory()
    async with workspace(tmp_path, history=history) as driver:
        await driver.play(story.started(1, "fix it"), story.done(1))
        await command(driver, "/rename")
        await driver.until_shown("type the title")
        assert driver.written == "/rename fix it"
        await driver.type(" well")
        await driver.press("enter")
        await driver.until(lambda: ("rename", "s5", "fix it well") in history.calls)


async def test_the_session_is_exported_and_the_file_named(tmp_path: Path) -> None:
    history = FakeHistory()
    async with workspace(tmp_path, history=history) as driver:
        await command(driver, "/export notes/today.html")
        await driver.until_shown("Exported to /home/me/shop/notes/today.html")
        history.here = Path.home() / "shop"
        await command(driver, "/export notes/today.html")
        await driver.until_shown("Exported to ~/shop/notes/today.html")
        assert history.calls[0] == ("export", "html", "notes/today.html")
        await command(driver, "/export pdf")
        await driver.until_shown("Unknown format pdf. Use markdown, json or html.")
        assert driver.written == "/export pdf"
        history.refusal = "notes.md can't be written: it is there already."
        await command(driver, "/export notes.md")
        await driver.until_shown("it is there already")


async def test_the_tour_keeps_no_sessions(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        for words in ("/resume", "/new", "/fork", "/rename x", "/export"):
            await command(driver, words)
            await driver.until_shown("Sessions aren't saved here.")
            await driver.press("left")
            await driver.until(lambda: not driver.shows("Sessions aren't saved"))


# Compaction


async def test_a_conversation_is_summarised_by_command_and_esc_cancels(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(80, 24)) as driver:
        await command(driver, "/compact keep the API names")
        await driver.until(lambda: ("compact", "keep the API names") in driver.session.calls)
        await driver.play(story.started(1, "one"), story.done(1, seconds=5))
        driver.session.running = True
        await driver.play(
            CompactionStarted(turns=1, focus="keep the API names"), CompactionDelta(text="We did")
        )
        await driver.until_shown("● summarising   0 s")
        assert driver.shows("esc cancel") and driver.shows("for after the summary")
        await driver.press("escape")
        await driver.until(lambda: ("stop",) in driver.session.calls)
        driver.session.running = False
        end = Compacted(
            turn=1, turns=1, summary="We did it.", turn_memory=TurnMemory(),
            bytes_before=900, bytes_after=200, seconds=3,
        )  # fmt: skip
        await driver.play(end)
        assert driver.shows("1 turn summarised") and driver.shows("turn 1   0 calls   5.0 s")
        driver.session.refusal = "Nothing to summarise yet."
        await command(driver, "/compact")
        await driver.until_shown("Nothing to summarise yet.")


async def test_it_fits_small_terminals(tmp_path: Path) -> None:
    for size in ((80, 24), (40, 10), (200, 60)):
        async with workspace(tmp_path, history=FakeHistory(), size=size) as driver:
            await driver.press("f3")
            await driver.until_shown("Fix the cart")
            await driver.press("tab")
            await driver.until_shown("all fold")
            await driver.until_shown("2 h ago")
