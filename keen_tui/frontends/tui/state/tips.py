"""Tips: each says one thing in one row when it first matters, once and never again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from keen_tui.frontends.tui.keys.keymap import shown
from keen_tui.frontends.tui.state.state import UiState

_MOST_BYTES: Final = 10_000
_PRIVATE: Final = 0o600
_CALLS_TO_UNFOLD: Final = 3
_TURNS_TO_LOOK_BACK: Final = 5
_KEYS: Final = ("next_mode", "details", "next_pane")


class Tip(Struct, frozen=True):
    """`words` names keys by the actions that they run, and is short enough for 60 columns; `is_due` looks at
    the states before and after."""

    id: str
    words: str
    is_due: Callable[[UiState, UiState], bool]

    @property
    def row(self) -> str:
        """As it is shown."""
        return f"Tip: {self.words.format(**{each: shown(each) for each in _KEYS})}"


def _was_done(before: UiState, after: UiState) -> bool:
    return bool(before.turns and after.turns) and (
        before.turns[-1].status == "running" and after.turns[-1].status == "done"
    )


def _left_something(before: UiState, after: UiState) -> bool:
    return _was_done(before, after) and any(
        fact.IS_ENTRY for fact in replace(after.turns[-1].memory, skills=()).facts
    )


def _was_answered_again(before: UiState, after: UiState) -> bool:
    return before.approval is not None and after.approval is None and len(after.turns) > 1


TIPS: Final = (
    Tip("memory", "/memory shows and edits what later turns know.", _left_something),
    Tip("modes", "{next_mode} changes what runs without asking.", _was_answered_again),
    Tip(
        "details",
        "{details} unfolds the calls; {next_pane} goes to them.",
        lambda before, after: _was_done(before, after) and after.turns[-1].calls >= _CALLS_TO_UNFOLD,
    ),
    Tip(
        "context",
        "/context shows what fills the context window.",
        lambda before, after: _was_done(before, after) and len(after.turns) >= _TURNS_TO_LOOK_BACK,
    ),
)


class Tips:
    """Knows which tips were given, in a small file of the program's own; one that can't be read is none."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._given = _kept(file)

    def next(self, before: UiState, after: UiState) -> str:
        """The tip to give now, "" for none."""
        if after.session_id != before.session_id or before.restoring or after.restoring:
            return ""
        tip = next((tip for tip in TIPS if tip.id not in self._given and tip.is_due(before, after)), None)
        if tip is None:
            return ""
        self._given.append(tip.id)
        return tip.row

    def keep(self) -> None:
        """Write down which were given. Raises OSError."""
        from keen_tui.system.atomic_write import put_file  # noqa: PLC0415
        from keen_tui.system.safe_read import content_of  # noqa: PLC0415 - not before the first paint

        content = msgspec.json.encode(self._given) + b"\n"
        put_file(self._file, content, content_of(self._file, most=_MOST_BYTES), mode=_PRIVATE)


def _kept(file: Path) -> list[str]:
    try:
        with file.open("rb") as opened:
            return msgspec.json.decode(opened.read(_MOST_BYTES), type=list[str])
    except (OSError, msgspec.DecodeError):
        return []
