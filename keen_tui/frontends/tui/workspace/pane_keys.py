"""The keys that the status bar names while the focus is in a pane."""

from __future__ import annotations

from collections.abc import Mapping

from keen_tui.frontends.shared.action import Where
from keen_tui.frontends.shared.commands.actions import BY_ID
from keen_tui.frontends.tui.keys.keymap import keys_of, shown, shown_key

_PANE_KEYS: Mapping[Where, tuple[tuple[tuple[str, ...], str], ...]] = {
    "transcript": (
        (("cursor_up", "cursor_down"), "block"),
        (("fold",), "fold"),
        (("copy_block",), "copy"),
        (("turn_above", "turn_below"), "turn"),
        (("open_file",), "editor"),
    ),
    "search": (
        (("find_older",), "older"),
        (("find_newer",), "newer"),
        (("find_stay",), "stay"),
        (("find_return",), "go back"),
    ),
    "panels": (
        (("choose_row",), "row"),
        (("show_row",), "show"),
        (("open_row",), "editor"),
        (("diff_row",), "changes"),
    ),
}
"""The actions by pane, and what they do."""


def pane_keys(
    place: Where, *, is_command: bool, can_fold: bool, running: bool
) -> tuple[tuple[str, str], ...]:
    """Keys of the focused pane and what they do; that of `stop` leads back where nothing runs.

    Args:
        is_command: a command of the user's own is written.
        can_fold: the block under the cursor folds.
    """
    if place == "composer" and is_command:
        return ((shown("send"), "run in your shell"),)
    named = _PANE_KEYS.get(place, ())
    if not can_fold:
        named = tuple(each for each in named if each[0] != ("fold",))
    keys = tuple((key, verb) for ids, verb in named if (key := _keys_for(ids)))
    if running or not named or place == "search":
        return keys
    return (*keys, (shown("stop"), "back"))


def _keys_for(action_ids: tuple[str, ...]) -> str:
    """The keys of actions that go together: `up, down`, `[ ]`."""
    actions = [BY_ID[action_id] for action_id in action_ids]
    keys = [shown_key(key) for action in actions for key in keys_of(action)[: 1 if action.bound else None]]
    return (" " if all(len(key) == 1 for key in keys) else ", ").join(keys)
