"""The TurnMemory panel, row by row."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from keen_tui.domain.errors import STOPPED
from keen_tui.domain.events import (
    Event,
    ImagesAttached,
    MemoryEdited,
    MessageTakenBack,
    ResourcesAttached,
    ShellFinished,
    SkillCalled,
    Steered,
    TurnError,
)
from keen_tui.domain.facts.command_failed import CommandFailed
from keen_tui.domain.facts.skill_used import SkillUsed
from keen_tui.domain.messages import AttachedResource, CalledSkill, Image, ToolResult, TurnMemory
from keen_tui.frontends.tui.look.glyphs import ASCII, UNICODE, Glyphs
from keen_tui.frontends.tui.look.themes import Styles, load_themes
from keen_tui.frontends.tui.panels.turn_memory import TurnMemoryPanel
from keen_tui.frontends.tui.state.reducer import apply_all
from keen_tui.frontends.tui.state.state import UiState
from tests.support import story

STYLES = Styles(load_themes()[0]["keen-dark"])
MEMORY = TurnMemory(
    files_changed=("src/cart.py",),
    failed_bash=(CommandFailed(command="make", exit_code=2),),
    notes=("the API is frozen until May", "ask before touching \x1b[31mtax.py\n"),
)
EDITED = MemoryEdited(turn=3, turn_memory=MEMORY, carried_bytes=500)


def panel(state: UiState, glyphs: Glyphs = UNICODE, *, folded: bool = False) -> list[str]:
    drawn = TurnMemoryPanel(STYLES, glyphs)
    drawn.folded = folded
    drawn.show(state)
    if folded:
        return [drawn.title_row(36).plain]
    rows = [row.plain.rstrip() for entry in drawn.entries(36) for row in entry.rows]
    return [drawn.title_row(36).plain, *rows]


def test_a_running_turn_is_drawn_again_only_for_what_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    monkeypatch.setattr(TurnMemoryPanel, "changed", lambda _: drawn.append(1))
    memory = TurnMemoryPanel(STYLES, UNICODE)
    begun = apply_all(UiState(), [story.started(1, "go")], 1.0)
    memory.show(begun)
    drawn.clear()
    called = apply_all(begun, story.read(1, "c1", "src/cart.py", 20), 2.0)
    memory.show(called)
    assert called.turns[-1].calls == 1
    assert drawn == []
    memory.show(apply_all(called, story.edit(1, "c2"), 3.0))
    assert drawn == [1]


def test_notes_stand_behind_files_and_failed_commands() -> None:
    rows = panel(apply_all(UiState(), [*story.three_turns(), EDITED], 1.0))
    first = rows.index("  ± src/cart.py")
    assert rows[first + 1].startswith("  ✗ make")
    assert rows[first + 2 : first + 4] == [
        "  • the API is frozen until May",
        "  • ask before touching tax.py",
    ]
    assert rows[first + 4].startswith("  carries 0.5 of 38.4 kB")


def test_pages_are_listed_though_nothing_of_them_is_carried() -> None:
    pages = tuple(f"https://docs.example.org/{number}" for number in range(7))
    memory = TurnMemory(pages_read=("https://a.org/\x1b[31mred\n", *pages))
    state = apply_all(UiState(), [*story.three_turns(), replace(EDITED, turn_memory=memory)], 1.0)
    rows = panel(state)
    first = rows.index("  read a.org/red")
    assert rows[first - 1].startswith("  only what was said")
    assert rows[first + 4 : first + 6] == ["  read docs.example.org/3", "  read 3 more pages"]
    assert all("\x1b" not in row for row in rows)


def test_a_skill_in_use_stands_with_its_bytes() -> None:
    memory = replace(MEMORY, skills=(SkillUsed(name="pdf", bytes=4200),))
    rows = panel(apply_all(UiState(), [*story.three_turns(), replace(EDITED, turn_memory=memory)], 1.0))
    place = rows.index("  ◆ skill pdf                 4.2 kB")
    assert rows[place - 1].startswith("  ✗ make")
    assert rows[place + 1] == "  • the API is frozen until May"


def test_files_of_commands_are_marked_and_many_are_folded() -> None:
    many = tuple(f"gen/{number}.py" for number in range(30))
    memory = TurnMemory(files_changed=("a.py", *many, "b.py"), by_command=(*many, "b.py"), unwatched=True)
    state = apply_all(UiState(), [*story.three_turns(), replace(EDITED, turn_memory=memory)], 1.0)
    rows = panel(state)
    first = rows.index("  ± a.py")
    assert rows[first + 1 : first + 4] == [
        "  ± gen/ (30 files)       by command",
        "  ± b.py                  by command",
        "  commands aren't watched here",
    ]


def test_a_long_note_is_cut_and_notes_have_a_sign_in_ascii() -> None:
    noted = replace(EDITED, turn_memory=TurnMemory(notes=("word " * 20,)))
    rows = panel(apply_all(UiState(), [*story.three_turns(), noted], 1.0), ASCII)
    note = next(row for row in rows if "word" in row)
    assert note.startswith("  * word") and note.endswith(".") and len(note) <= 36


def test_a_turn_of_which_only_a_note_is_kept_is_not_called_empty() -> None:
    noted = replace(EDITED, turn_memory=TurnMemory(notes=("remember this",)))
    rows = panel(apply_all(UiState(), [*story.three_turns(), noted], 1.0))
    assert rows.count("  nothing changed, nothing failed") == 2


def test_the_policy_is_named_in_the_title_where_it_is_not_the_usual_one() -> None:
    state = apply_all(UiState(), [*story.three_turns(), EDITED], 1.0)
    assert panel(state)[0].split() == ["TurnMemory", "ctrl+t", "fold"]
    assert panel(replace(state, policy="in-band"))[0].split() == ["TurnMemory", "in-band", "ctrl+t", "fold"]
    assert "±1 ✗1 •2" in panel(state, folded=True)[0]
    assert (
        panel(replace(state, policy="full-trace"), folded=True)[0] == "▸ TurnMemory   full-trace   ±1 ✗1 •2"
    )


def test_the_entry_of_a_turn_that_stands_is_made_once_for_a_width_and_a_look() -> None:
    drawn = TurnMemoryPanel(STYLES, UNICODE)
    drawn.show(apply_all(UiState(), story.three_turns(), 1.0))
    first = drawn.entries(36)[0]
    assert drawn.entries(36)[0] is first
    drawn.set_look(STYLES, ASCII)
    assert drawn.entries(36)[0].rows[0].plain != first.rows[0].plain
    assert max(row.cell_len for row in drawn.entries(30)[0].rows) <= 30


def test_the_row_of_sums_is_made_anew_for_another_width_look_or_sum() -> None:
    drawn = TurnMemoryPanel(STYLES, UNICODE)
    drawn.show(apply_all(UiState(), story.three_turns(), 1.0))
    first = drawn.pinned_row(36)
    assert first is not None
    assert drawn.pinned_row(36) is first
    assert drawn.pinned_row(30) != first
    drawn.set_look(STYLES, ASCII)
    assert drawn.pinned_row(36) != first
    drawn.set_look(STYLES, UNICODE)
    assert drawn.pinned_row(36) == first
    drawn.show(apply_all(UiState(), [*story.three_turns(), story.started(4, "more"), story.done(4)], 1.0))
    assert drawn.pinned_row(36) != first


def test_a_turn_that_changes_is_drawn_as_it_is_now() -> None:
    drawn = TurnMemoryPanel(STYLES, UNICODE)
    drawn.show(apply_all(UiState(), story.three_turns(), 1.0))
    before = drawn.entries(36)[0].rows
    drawn.show(apply_all(UiState(), [*story.three_turns(), EDITED], 2.0))
    assert drawn.entries(36)[0].rows != before


def said(*events: Event) -> list[str]:
    """The panel after these events."""
    return panel(apply_all(UiState(), events, 1.0))


def test_the_sums_count_the_users_own_words_and_what_goes_along() -> None:
    ran = ToolResult(text="r" * 500)
    shell = ShellFinished(turn=1, id="s", command="ls", result=ran, seconds=0.1)
    image = Image(name="a.png", media_type="image/png", width=9, height=9, content=b"i" * 3_000)
    state = apply_all(
        UiState(),
        [
            story.started(1, "p" * 2_000),
            story.done(1, carried=400, trace=38_000),
            shell,
            story.started(2, "q" * 1_000),
            ImagesAttached(turn=2, images=(image,)),
            Steered(turn=2, step=1, text="s" * 300),
            story.done(2, carried=100, trace=200),
        ],
        1.0,
    )
    rows = panel(state)
    newer, older = (row for row in rows if "carries" in row)
    assert newer.startswith("  carries 6.0 of 6.1 kB")
    assert older.startswith("  carries 2.4 of 40.0 kB")
    drawn = TurnMemoryPanel(STYLES, UNICODE)
    drawn.show(state)
    whole = drawn.pinned_row(60)
    assert whole is not None and "8.4 of 46.1 kB" in whole.plain


def test_a_message_that_is_taken_back_leaves_the_commands_that_the_user_ran_for_the_next_one() -> None:
    ran = ToolResult(text="r" * 500)
    shell = ShellFinished(turn=0, id="s", command="ls", result=ran, seconds=0.1)
    error = TurnError(turn=1, attempt=1, reason="auth", detail="No.", seconds=1.0)
    state = apply_all(UiState(), [shell, story.started(1, "hi")], 1.0)
    (first,) = state.turns
    again = apply_all(state, [error, MessageTakenBack(turn=1, text="hi"), story.started(1, "hi")], 2.0)
    assert again.turns[0].said_bytes == first.said_bytes > 500


def test_a_turn_in_which_a_call_failed_is_not_said_to_have_had_no_failure() -> None:
    failed = ToolResult(text="Error: no such file", summary="failed", is_error=True)
    call = story.tool(1, "r", "read_file", "a.py", failed)
    rows = said(story.started(1, "hi"), *call, story.done(1))
    assert "  1 failed call, not carried" in rows
    assert not any("nothing failed" in row for row in rows)


def test_a_failed_command_that_the_user_had_forgotten_was_a_failure_all_the_same() -> None:
    events = [story.started(1, "hi"), *story.failing_bash(1, "b", "make"), story.done(1)]
    rows = said(*events, MemoryEdited(turn=1, turn_memory=TurnMemory(), carried_bytes=5))
    assert "  only what was said" in rows
    assert not any("nothing failed" in row for row in rows)


def test_a_turn_that_broke_off_is_not_said_to_have_had_no_failure() -> None:
    cut = replace(story.incomplete(1), turn_memory=TurnMemory())
    rows = said(story.started(1, "hi"), cut)
    assert "  nothing changed" in rows


def test_stopped_is_not_failed_and_the_message_stays() -> None:
    stopped = TurnError(turn=1, attempt=1, reason="interrupted", detail=STOPPED, seconds=1.0)
    rows = said(story.started(1, "hi"), stopped)
    assert rows[1].startswith("■ turn 1") and rows[1].endswith("stopped")
    assert "  nothing was done; message kept" in rows


def test_what_a_turn_recalled_is_counted_in_bytes_while_it_runs_and_later() -> None:
    results = (ToolResult(text="x" * 1_500, summary="turn 1"), ToolResult(text="y" * 500, summary="1 match"))
    calls = [
        story.tool_finished(2, f"r{place}", "recall", "turn 1, call 1", result)
        for place, result in enumerate(results)
    ]
    failed = ToolResult(text="Error: this session has no turn 9.", is_error=True, summary="failed")
    running: list[Event] = [
        story.started(2, "what was it?"),
        *calls,
        story.tool_finished(2, "other", "read_file", "a.py", ToolResult(text="z" * 900)),
        story.tool_finished(2, "wrong", "recall", "turn 9", failed),
    ]
    row = "  recalled 2.0 kB of earlier turns"
    assert row in panel(apply_all(UiState(), running, 1.0))
    done = story.done(2)
    assert row in panel(apply_all(UiState(), [*running, done], 1.0))
    assert not any("recalled" in row for row in panel(apply_all(UiState(), story.three_turns(), 1.0)))


def test_a_skill_that_was_called_counts_among_what_is_not_carried() -> None:
    skill = CalledSkill(name="pdf", text="x" * 9_000, bytes=8_800)
    before = panel(apply_all(UiState(), story.three_turns(), 1.0))
    after = panel(apply_all(UiState(), [*story.three_turns(), SkillCalled(turn=3, skill=skill)], 1.0))
    assert "  ◆ skill pdf                 8.8 kB" in after
    carried = [next(row for row in rows if "carries" in row) for rows in (before, after)]
    assert carried[0] != carried[1]


def test_a_resource_counts_among_what_is_not_carried() -> None:
    read = AttachedResource(server="talk", uri="a://1", text="x" * 9_000, bytes=9_000)
    attached = ResourcesAttached(turn=3, resources=(read,))
    before = panel(apply_all(UiState(), story.three_turns(), 1.0))
    after = panel(apply_all(UiState(), [*story.three_turns(), attached], 1.0))
    carried = [next(row for row in rows if "carries" in row) for rows in (before, after)]
    assert carried[0] != carried[1]
