"""Keys of the user's own: what is a key, what may be one, and where they are then named."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from keen_tui.domain.errors import KeyProblem
from keen_tui.frontends.tui.keys import keymap
from keen_tui.frontends.tui.keys.key_checks import checked
from keen_tui.settings.config import load_settings


@pytest.fixture(autouse=True)
def registry_again() -> Iterator[None]:
    """Whatever a test makes of the keys, the next one finds those of the registry."""
    yield
    keymap.use({})


def test_another_key_is_named_and_bound_in_the_place_of_the_old_one() -> None:
    keymap.use({"retry": ("ctrl+y",), "send": ("f10", "alt+enter")})
    assert keymap.shown("retry") == "ctrl+y"
    assert keymap.shown("discard") == "ctrl+x"
    assert keymap.overrides()["send"] == "f10,alt+enter"
    assert keymap.action_by_key("composer")["f10"] == "send"
    assert "enter" not in keymap.action_by_key("composer")


def test_the_examples_of_the_guide_are_settings_that_can_be(tmp_path: Path) -> None:
    page = Path(__file__).parents[3] / "docs/guide/settings.md"
    examples = re.findall(r"^```toml\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert examples
    for example in examples:
        (tmp_path / "settings.toml").write_text(example)
        keymap.use(load_settings({}, {"KEEN_HOME": str(tmp_path)}).keys)


def test_an_action_without_a_key_is_named_by_its_command_or_not_at_all() -> None:
    keymap.use({"retry": (), "sidebar": ("",)})
    assert keymap.shown("retry") == "/retry"
    assert keymap.shown("sidebar") == ""
    assert keymap.overrides() == {"retry": keymap.NO_KEY, "sidebar": keymap.NO_KEY}


def test_an_action_with_several_keys_gives_one_away() -> None:
    keymap.use({"retry": ("ctrl+y",)})
    assert keymap.overrides() == {"retry": "ctrl+y", "copy_block": "y", "yank": keymap.NO_KEY}


def test_keys_that_follow_an_action_go_with_it() -> None:
    keymap.use({"find": ("f10",)})
    assert keymap.shown("find_return") == "f10"


def test_the_keys_of_before_are_in_use_again_once_nothing_is_wanted() -> None:
    keymap.use({"retry": ("f5",)})
    keymap.use({})
    assert keymap.shown("retry") == "ctrl+r"


def test_a_key_that_was_refused_changes_nothing() -> None:
    keymap.use({})
    with pytest.raises(KeyProblem):
        keymap.use({"retry": ("f5",), "find": ("ctrl+i",)})
    assert keymap.shown("retry") == "ctrl+r"


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("Ctrl+Y", "ctrl+y"),
        ("ctrl + y", "ctrl+y"),
        ("Page Up", "pageup"),
        ("esc", "escape"),
        ("alt+1", "alt+1"),
        ("ctrl+pgdn", "ctrl+pagedown"),
        ("F12", "f12"),
    ],
)
def test_keys_may_be_written_as_people_write_them(written: str, key: str) -> None:
    taken = {"stop": ("f9",), "page_up": (), "page_down": ()}
    assert checked({**taken, "sidebar": (written,)})["sidebar"] == (key,)


def test_two_actions_may_change_their_keys() -> None:
    assert checked({"retry": ("ctrl+x",), "discard": ("ctrl+r",)})["discard"] == ("ctrl+r",)


def test_one_key_may_mean_something_in_each_of_two_panes() -> None:
    assert checked({"copy_block": ("f10",), "send": ("f10",)})


def test_single_signs_are_keys_where_nobody_writes() -> None:
    assert checked({"fold": ("x", "+")})["fold"] == ("x", "+")


@pytest.mark.parametrize(
    ("action", "key", "says"),
    [
        ("retrie", "ctrl+y", "no such action. Did you mean retry?"),
        ("history", "ctrl+y", "can't be changed"),
        ("find_stay", "ctrl+y", "It is always the key of stop."),
        ("retry", "ctrl+ä", "isn't a key that terminals send"),
        ("retry", "f13", "isn't a key that terminals send"),
        ("retry", "super+k", "isn't a key that terminals send"),
        ("retry", "ctrl+i", "terminals send ctrl+i as tab"),
        ("retry", "ctrl+m", "terminals send ctrl+m as enter"),
        ("retry", "ctrl+[", "terminals send ctrl+[ as escape"),
        ("retry", "ctrl+h", "terminals send ctrl+h as backspace"),
        ("retry", "ctrl+shift+k", "terminals send ctrl+shift+k as ctrl+k"),
        ("fold", "shift+k", "terminals send shift+k as K"),
        ("retry", "r", "'r' is for writing"),
        ("send", "!", "'!' is for writing"),
        ("retry", "enter", "enter is for writing"),
        ("retry", "up", "up is for writing"),
        ("new_line", "backspace", "backspace is for writing"),
        ("retry", "ctrl+c", "ctrl+c always quits"),
        ("retry", "ctrl+b", "ctrl+b is the key of sidebar (show or hide the panels)"),
        ("retry", "ctrl+j", "ctrl+j is the key of new_line"),
        ("fold", "c", "c is the key of copy_code (copy the code)"),
        ("new_line", "enter", "enter is the key of send"),
        ("send", "shift+enter", "send needs a key that every terminal sends, like enter"),
        ("stop", "", "stop the turn needs a key that every terminal sends, like escape"),
        ("interrupt", "", "needs a key that every terminal sends, like ctrl+c"),
    ],
)
def test_a_key_that_would_not_work_is_refused_and_why(action: str, key: str, says: str) -> None:
    with pytest.raises(KeyProblem) as refused:
        checked({action: (key,)})
    assert str(refused.value).startswith(f"keys.{action}: ")
    assert says in str(refused.value)
