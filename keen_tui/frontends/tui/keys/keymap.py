"""The keys in use: those of the registry, or what the user's settings say instead.

There is one terminal and one table of keys: the app puts it together before its workspace is made, and
everything that acts on a key or names one reads it from here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from textual.binding import Binding

from keen_tui.frontends.shared.action import Action, Where
from keen_tui.frontends.shared.commands.actions import ACTIONS, BY_ID

NO_KEY: Final = "no_key"
"""Stands in a binding for an action that has no key: no terminal sends it."""

_SHOWN: Final = {
    "escape": "esc",
    "pageup": "page up",
    "pagedown": "page down",
    "ctrl+underscore": "ctrl+_",
    "ctrl+slash": "ctrl+/",
}

_own: dict[str, tuple[str, ...]] = {}
"""The keys of the actions that the user gave others."""


def use(keys: Mapping[str, tuple[str, ...]], *, in_browser: bool = False) -> None:
    """From now on these are the keys of these actions, and all others have those of the registry. In a
    browser, actions whose key it takes for itself have another one first.

    Raises:
        KeyProblem: one is no key, or it can't be this action's. Nothing has changed then.
    """
    _own.clear()
    if keys:
        from keen_tui.frontends.tui.keys.key_checks import checked  # noqa: PLC0415 - only where keys were changed

        _own.update(checked(keys))
    if in_browser:
        used = {key for own in _own.values() for key in own}
        for action in ACTIONS:
            if action.in_browser and action.id not in _own and action.in_browser not in used:
                _own[action.id] = (action.in_browser, *action.keys)


def keys_of(action: Action) -> tuple[str, ...]:
    """All keys of an action, the one that is shown first."""
    if action.follows:
        return keys_of(BY_ID[action.follows])
    return _own.get(action.id, action.keys)


def shown(action_id: str) -> str:
    """How the screen says what to press for an action: `ctrl+r`, else `/retry`, "" where there is no way."""
    action = BY_ID[action_id]
    if keys := keys_of(action):
        return shown_key(keys[0])
    return f"/{action.slash[0]}" if action.slash else ""


def shown_key(key: str) -> str:
    """A key as it is written on the screen: `esc`, `ctrl+r`, `page up`."""
    return _SHOWN.get(key, key)


def run_by_id(action_id: str) -> str:
    """How a binding calls an action that the workspace looks up in its table."""
    return f"do({action_id!r})"


def bindings(where: Where, does: Callable[[str], str] = str) -> list[Binding]:
    """The key bindings of the actions of that place, with the keys of the registry: `overrides` has the rest.
    `does` gives what a binding calls for the id of its action.

    All have priority: the editor that the prompt is built on has uses of its own for many of these keys.
    """
    return [
        Binding(
            ",".join(action.keys) or NO_KEY,
            does(action.id),
            action.label,
            show=False,
            priority=True,
            id=action.id,
        )
        for action in ACTIONS
        if action.where == where and action.bound
    ]


def same_key(action_id: str, does: str, *, priority: bool = False) -> Binding:
    """The keys of an action, doing something else on a screen of its own: what opened that closes it."""
    keys = ",".join(BY_ID[action_id].keys) or NO_KEY
    return Binding(keys, does, show=False, priority=priority, id=action_id)


def field_keys(actions: Mapping[str, str]) -> dict[str, str]:
    """Returns the actions that a text field leaves to its screen, by key. `actions` maps ids of actions to
    those of the screen."""
    return {key: does for action_id, does in actions.items() for key in keys_of(BY_ID[action_id])}


def letters_of(where: Where) -> frozenset[str]:
    """The keys of the actions of that place, of which those that are letters can't be written there."""
    return frozenset(key for action in ACTIONS if action.where == where for key in keys_of(action))


def overrides() -> dict[str, str]:
    """The user's keys by the id of a binding, for `App.set_keymap`."""
    return {action_id: ",".join(keys) or NO_KEY for action_id, keys in _own.items()}


def action_by_key(where: Where) -> dict[str, str]:
    """The ids of the actions of that place by key, for panes that take keys themselves."""
    return {
        key: action.id
        for action in ACTIONS
        if action.where == where and action.bound
        for key in keys_of(action)
    }
