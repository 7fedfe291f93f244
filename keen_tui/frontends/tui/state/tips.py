"""Tips: each says one thing when it first matters, once and never again, and goes with the next message."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from keen_tui.frontends.shared.actions import BY_ID
from keen_tui.frontends.tui.keys.keymap import keys_of, shown
from keen_tui.frontends.tui.state.state import UiState

_MOST_BYTES: Final = 10_000
_PRIVATE: Final = 0o600
_CALLS_TO_UNFOLD: Final = 3
_TURNS_TO_LOOK_BACK: Final = 5


class _Tip(Struct, frozen=True):
    """`words` names keys by the actions that they run; `is_due` looks at the states before and after. Once
    one of the actions that it `teaches` was used, it has done its work."""

    id: str
    words: str
    is_due: Callable[[UiState, UiState], bool]
    is_over: Callable[[UiState], bool] = lambda state: False
    """Whether what it is about is gone."""
    teaches: tuple[str, ...] = ()


def _broke_off(before: UiState, after: UiState) -> bool:
    return after.pending is not None and before.pending is None


def _was_done(before: UiState, after: UiState) -> bool:
    return bool(before.turns and after.turns) and (
        before.turns[-1].status == "running" and after.turns[-1].status == "done"
    )


def _left_something(before: UiState, after: UiState) -> bool:
    if not _was_done(before, after):
        return False
    memory = after.turns[-1].memory
    return bool(memory.files_changed or memory.failed_bash or memory.called or memory.work_trees)


def _asks_again(before: UiState, after: UiState) -> bool:
    return after.approval is not None and before.approval is None and len(after.turns) > 1


_TIPS: Final = (
    _Tip(
        "retry",
        "{retry} continues after any interruption: a lost connection, a limit, your own {stop}. "
        "/durable keeps incomplete turns on disk, even if Keen quits.",
        _broke_off,
        lambda state: state.pending is None or state.running,
    ),
    _Tip(
        "memory",
        "TurnMemory now shows what later turns will know about this one, apart from its messages: the files "
        "it changed and the commands that failed. /memory edits it, {fold_memory} folds it.",
        _left_something,
        teaches=("memory", "fold_memory"),
    ),
    _Tip(
        "modes",
        "{next_mode} changes what runs without asking; /permissions shows what does.",
        _asks_again,
        lambda state: state.approval is None,
        teaches=("next_mode", "permissions"),
    ),
    _Tip(
        "details",
        "{details} unfolds the calls. {next_pane} moves there, block by block; esc goes back.",
        lambda before, after: _was_done(before, after) and after.turns[-1].calls >= _CALLS_TO_UNFOLD,
        teaches=("details", "next_pane"),
    ),
    _Tip(
        "context",
        "/context shows what the next request holds, part by part; /compact makes room.",
        lambda before, after: _was_done(before, after) and len(after.turns) >= _TURNS_TO_LOOK_BACK,
        teaches=("context", "compact"),
    ),
)


class Tips:
    """Knows which tips were given, in a small file of the program's own; one that can't be read is none."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._given = _kept(file)
        self._shown: _Tip | None = None

    def next(self, before: UiState, after: UiState) -> str | None:
        """What to say now: "" for nothing any more, None to leave it as it is."""
        if after.session_id != before.session_id or before.restoring or after.restoring:
            return ""
        tip = next((tip for tip in _TIPS if tip.id not in self._given and tip.is_due(before, after)), None)
        if tip is None:
            is_over = self._shown is not None and self._shown.is_over(after)
            return "" if is_over or len(after.turns) > len(before.turns) else None
        self._shown = tip
        self._given.append(tip.id)
        keys = {
            each: shown(each)
            for each in ("retry", "stop", "fold_memory", "next_mode", "details", "next_pane")
        }
        return f"Tip: {tip.words.format(**keys)}"

    def used(self, action_id: str = "", key: str = "") -> bool:
        """Whether that action, or the one of that key, is what the tip on the screen is about."""
        taught = self._shown.teaches if self._shown else ()
        return any(each == action_id or key in keys_of(BY_ID[each]) for each in taught)

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
