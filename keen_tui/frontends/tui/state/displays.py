"""The displays of finished calls, as the screen keeps them: packed if only the unfolded call shows them."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from keen_tui.domain.display import (
    AgentDisplay,
    ChangedFile,
    CommandDisplay,
    DiffDisplay,
    Display,
    FileDisplay,
    FileListDisplay,
    PageDisplay,
    TextDisplay,
    TodoDisplay,
)
from keen_tui.domain.messages import ToolResult
from keen_tui.text.labels import changed_words
from keen_tui.text.packed import Packed, packed

TAIL_LINES: Final = 3
"""Lines of a command's output that are seen without unfolding the call."""
_TAIL_CELLS: Final = 1_000


class PackedDisplay(Struct, frozen=True):
    """A display of which nothing is seen until its call is unfolded, and about the number of its rows."""

    packed: Packed[Display]
    rows: int


def packed_display(result: ToolResult) -> Display | PackedDisplay | None:
    """The display of a result, packed if it is long and the folded call shows nothing of it."""
    is_text = result.display is None and result.outcome == "done"
    display = TextDisplay(text=result.text) if is_text else result.display
    if display is None or not _is_hidden(display, result):
        return result.display
    kept = packed(display)
    return PackedDisplay(kept, rows_of(display)) if isinstance(kept, Packed) else result.display


def _is_hidden(display: Display, result: ToolResult) -> bool:
    """Whether the row of a call, as long as nobody unfolds it, shows nothing of its display."""
    match display:
        case DiffDisplay() | TodoDisplay():
            return False
        case CommandDisplay():
            return result.outcome == "done" and not changed_words(display)
    return True


def last_lines(output: str) -> tuple[str, int]:
    """The end of what a command printed, from the last `TAIL_LINES` lines that have text on, and how many
    lines it printed."""
    lines = output.rstrip().split("\n") if output.strip() else []
    texts = [place for place, line in enumerate(lines) if line.strip()]
    last = lines[texts[-TAIL_LINES:][0] :] if texts else []
    return "\n".join(line[:_TAIL_CELLS] for line in last), len(lines)


def rows_of(display: Display) -> int:
    """About how many rows a display has."""
    match display:
        case DiffDisplay():
            return sum(len(hunk) + 1 for hunk in display.hunks)
        case FileListDisplay():
            return len(display.lines) + 1
        case TodoDisplay():
            return len(display.items)
        case FileDisplay() | TextDisplay() | AgentDisplay():
            return display.text.count("\n") + 1
        case PageDisplay():
            return display.text.count("\n") + 3
        case CommandDisplay():
            return display.output.count("\n") + 2 + sum(map(_rows_of_change, display.changed))


def _rows_of_change(file: ChangedFile) -> int:
    return 1 + (rows_of(file.diff) if file.diff else 0)
