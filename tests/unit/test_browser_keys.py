"""Keys that browsers take for themselves: each action has another one there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from keen_tui.frontends.shared.commands.actions import ACTIONS, BY_ID
from keen_tui.frontends.tui.keys import keymap

TAKEN = {
    *(f"ctrl+{letter}" for letter in "befgklnopqrstw"),
    *("f1", "f3", "f5", "f6", "f7", "f10", "f11", "f12"),
}
"""Chromium and Firefox do something of their own with these. A page can keep them from it for some, while it
has the focus, but not for ctrl+n, ctrl+t and ctrl+w."""


@pytest.fixture(autouse=True)
def _usual_keys() -> Iterator[None]:
    yield
    keymap.use({})


def test_an_action_whose_key_browsers_take_has_another() -> None:
    keymap.use({}, in_browser=True)
    bound = [action for action in ACTIONS if action.bound and not action.follows]
    taken = [action.id for action in bound if action.keys and not set(keymap.keys_of(action)) - TAKEN]
    assert taken == []


def test_the_other_key_is_shown_first_and_the_usual_one_still_works() -> None:
    keymap.use({}, in_browser=True)
    assert keymap.keys_of(BY_ID["fold_memory"]) == ("alt+t", "ctrl+t")
    assert keymap.shown("help") == "alt+h"
    assert keymap.overrides()["fold_memory"] == "alt+t,ctrl+t"


def test_in_a_terminal_nothing_changes() -> None:
    keymap.use({})
    assert keymap.overrides() == {}
    assert keymap.shown("help") == "f1"


def test_the_keys_of_the_user_win() -> None:
    keymap.use({"retry": ("f5",), "copy": ("alt+t",)}, in_browser=True)
    assert keymap.keys_of(BY_ID["retry"]) == ("f5",)
    assert keymap.keys_of(BY_ID["fold_memory"]) == ("ctrl+t",)


def test_no_two_actions_of_one_place_have_the_same() -> None:
    for where in {action.where for action in ACTIONS}:
        given = [action.in_browser for action in ACTIONS if action.where == where and action.in_browser]
        assert len(given) == len(set(given)), where
