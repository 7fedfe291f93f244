"""The TurnMemory panel, row by row."""

from __future__ import annotations

from msgspec.structs import replace

from keen_tui.events import MemoryEdited
from keen_tui.messages import CommandFailed, TurnMemory
from keen_tui.ui.glyphs import ASCII, UNICODE, Glyphs
from keen_tui.ui.reducer import apply_all
from keen_tui.ui.state import UiState
from keen_tui.ui.themes import Styles, load_themes
from keen_tui.ui.widgets.turn_memory import TurnMemoryPanel
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
    drawn._folded = folded
    drawn._state = state
    if folded:
        return [drawn.title_row(36).plain]
    rows = [row.plain.rstrip() for entry in drawn.entries(36) for row in entry.rows]
    return [drawn.title_row(36).plain, *rows]


def test_notes_stand_behind_files_and_failed_commands() -> None:
    rows = panel(apply_all(UiState(), [*story.three_turns(), EDITED], 1.0))
    first = rows.index("  ± src/cart.py")
    assert rows[first + 1].startswith("  ✗ make")
    assert rows[first + 2 : first + 4] == [
        "  • the API is frozen until May",
        "  • ask before touching tax.py",
    ]
    assert rows[first + 4].startswith("  carries 0.5 kB of 38.4 kB")


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
    drawn._state = apply_all(UiState(), story.three_turns(), 1.0)
    first = drawn.entries(36)[0]
    assert drawn.entries(36)[0] is first
    drawn.set_look(STYLES, ASCII)
    assert drawn.entries(36)[0].rows[0].plain != first.rows[0].plain
    assert max(row.cell_len for row in drawn.entries(30)[0].rows) <= 30


def test_a_turn_that_changes_is_drawn_as_it_is_now() -> None:
    drawn = TurnMemoryPanel(STYLES, UNICODE)
    drawn._state = apply_all(UiState(), story.three_turns(), 1.0)
    before = drawn.entries(36)[0].rows
    drawn._state = apply_all(drawn._state, [EDITED], 2.0)
    assert drawn.entries(36)[0].rows != before
