"""Whether the keys that the user wants can be keys: terminals send them, and the program stays usable."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from keen_tui.domain.errors import KeyProblem
from keen_tui.frontends.shared.action import Action, Where
from keen_tui.frontends.shared.commands.actions import ACTIONS, BY_ID
from keen_tui.text.nearest import did_you_mean

_OTHER_NAMES: Final = {
    "esc": "escape",
    "return": "enter",
    "page up": "pageup",
    "pgup": "pageup",
    "page down": "pagedown",
    "pgdn": "pagedown",
    "del": "delete",
    "ins": "insert",
    "_": "underscore",
    "/": "slash",
}
_MOVING: Final = ("up", "down", "left", "right", "home", "end", "pageup", "pagedown")
_NAMED: Final = (*_MOVING, "escape", "enter", "tab", "shift+tab", "space", "backspace", "delete", "insert")
_SENT: Final = re.compile(
    rf"{'|'.join(re.escape(name) for name in _NAMED)}|f([1-9]|1[0-2])|ctrl\+[a-z]|alt\+[a-z0-9]"
    rf"|ctrl\+(underscore|slash)|(ctrl\+|shift\+|ctrl\+shift\+)({'|'.join(_MOVING)}|delete)"
)
"""Keys that every terminal sends, beside single signs."""
_SENT_BY_SOME: Final = ("shift+enter", "ctrl+enter", "alt+enter")
_SAME: Final = {
    "ctrl+i": "tab",
    "ctrl+m": "enter",
    "ctrl+h": "backspace",
    "ctrl+[": "escape",
    "shift+space": "space",
    "ctrl+tab": "tab",
}
"""Keys that terminals send as another one."""
_SHIFTED_LETTER: Final = re.compile(r"(?:(ctrl|alt)\+)?shift\+([a-z])")
_NEEDED: Final = ("send", "stop", "interrupt")
"""Actions without which nobody gets on or out."""
_GIVEN_AWAY: Final = ("redo_writing", "yank")
"""Actions that may lose their only key to another one, as the editing keys that have no action do."""
_EDITING: Final = (
    "up",
    "down",
    "left",
    "right",
    "home",
    "end",
    "space",
    "backspace",
    "delete",
    "enter",
)
"""Keys for writing, so no action that works in text fields can have them; enter may belong to an action of
the pane itself."""
_WHILE_WRITING: Final = ("anywhere", "composer", "search")
_INSTEAD: Final = "Choose one with ctrl or alt, or f1 to f12."
_LEAVING: Final = ("ctrl+c", "ctrl+q")


def checked(wanted: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """The keys as Textual names them, by action: of those that were given others, and of those that lose one
    of several keys by that.

    Raises:
        KeyProblem: there is no such action or key, or the key has another use already.
    """
    keys = {action_id: _keys(action_id, given) for action_id, given in wanted.items()}
    left: dict[str, tuple[str, ...]] = {}
    for action_id, own in keys.items():
        action = BY_ID[action_id]
        for key in own:
            _require_possible(action, key)
            for other in _others(action):
                if key in keys.get(other.id, ()):
                    raise _taken(action, key, other)
                remaining = left.get(other.id, other.keys)
                if other.id not in keys and key in remaining:
                    left[other.id] = _without(key, remaining, action, other)
    return keys | left


def _keys(action_id: str, given: Iterable[str]) -> tuple[str, ...]:
    action = BY_ID.get(action_id)
    if action is None:
        hint = did_you_mean(action_id, (each.id for each in ACTIONS if each.bound))
        raise KeyProblem(action_id, f"there is no such action.{hint} /help lists them.")
    if not action.bound:
        follows = f" It is always the key of {action.follows}." if action.follows else ""
        raise KeyProblem(action_id, f"this key can't be changed.{follows}")
    keys = tuple(dict.fromkeys(_key(action, key) for key in given if key.strip()))
    if action.id in _NEEDED and not set(keys) - set(_SENT_BY_SOME):
        raise KeyProblem(
            action_id, f"{action.label.lower()} needs a key that every terminal sends, like {action.keys[0]}."
        )
    return keys


def _key(action: Action, written: str) -> str:
    """The key as Textual names it."""
    key = written.strip()
    if len(key) > 1:
        key = "+".join(_OTHER_NAMES.get(part.strip(), part.strip()) for part in key.lower().split("+"))
    if letter := _SHIFTED_LETTER.fullmatch(key):
        sent = f"{letter[1]}+{letter[2]}" if letter[1] else letter[2].upper()
        raise KeyProblem(action.id, f"terminals send {written} as {sent}. Write that, or choose another.")
    if key in _SAME:
        raise KeyProblem(action.id, f"terminals send {written} as {_SAME[key]}. Choose another.")
    if len(key) == 1 and key.isprintable():
        if action.where in _WHILE_WRITING or _is_beside_a_field(action):
            raise KeyProblem(action.id, f"{written!r} is for writing. {_INSTEAD}")
        return key
    if not _SENT.fullmatch(key) and key not in _SENT_BY_SOME:
        raise KeyProblem(action.id, f"{written!r} isn't a key that terminals send. Try ctrl+y, alt+y or f6.")
    return key


def _is_beside_a_field(action: Action) -> bool:
    """Whether it is of a page on which one types: there none has a letter."""
    return action.where == "pages" and not any(len(key) == 1 for key in action.keys)


def _require_possible(action: Action, key: str) -> None:
    if key in _LEAVING and key not in action.keys:
        raise KeyProblem(action.id, f"{key} always quits. Choose another.")
    is_for_writing = key in _EDITING if action.where == "anywhere" else key in _EDITING[:-1]
    if action.where in _WHILE_WRITING and is_for_writing and key not in action.keys:
        raise KeyProblem(action.id, f"{key} is for writing. {_INSTEAD}")


def _others(action: Action) -> Iterator[Action]:
    """The actions whose keys can be meant where this one's are."""
    for other in ACTIONS:
        is_range = "…" in other.keys
        if other.id != action.id and not (other.follows or is_range) and _meet(action.where, other.where):
            yield other


def _without(key: str, keys: tuple[str, ...], action: Action, other: Action) -> tuple[str, ...]:
    """The keys that the other action keeps: at least one that every terminal sends, for most actions."""
    remaining = tuple(each for each in keys if each != key)
    if other.id in _GIVEN_AWAY:
        return remaining
    if not other.bound or not set(remaining) - set(_SENT_BY_SOME):
        raise _taken(action, key, other)
    return remaining


def _taken(action: Action, key: str, other: Action) -> KeyProblem:
    way_out = f' Give that another, or none: {other.id} = "".' if other.bound else ""
    return KeyProblem(action.id, f"{key} is the key of {other.id} ({other.label.lower()}).{way_out}")


def _meet(one: Where, other: Where) -> bool:
    """Whether a key can mean an action of one place and one of the other at once."""
    return one == other or ("anywhere" in (one, other) and "pages" not in (one, other))
