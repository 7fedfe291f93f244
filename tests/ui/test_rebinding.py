"""Keys of the user's own on the screen: pressed, and named wherever the old ones were."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.domain.errors import KeyProblem
from keen_tui.frontends.tui.app import UiSettings
from keen_tui.frontends.tui.keys.key_checks import checked
from keen_tui.frontends.tui.pages.help import HelpScreen
from keen_tui.frontends.tui.pages.palette import Palette
from keen_tui.memory.pending import PendingState
from tests.support import story
from tests.support.fake_history import FakeHistory
from tests.support.workspace import Driver, workspace

OWN = UiSettings(
    keys={
        "retry": ("ctrl+y",),
        "discard": ("alt+d",),
        "stop": ("f9",),
        "sidebar": ("f11",),
        "fold_activity": ("alt+a",),
        "fold_memory": ("alt+m",),
        "palette": ("f10",),
        "help": ("f12",),
        "models": ("f5",),
        "copy": ("alt+c",),
        "cursor_up": ("w",),
        "send": ("f4",),
        "new_line": ("enter",),
    }
)
OLD_NAMES = ("ctrl+r", "ctrl+x", "esc", "ctrl+b", "ctrl+t", "ctrl+p", "f1 ", "f2")


async def pend(driver: Driver) -> None:
    driver.session.pending = PendingState(calls=4, facts=())
    await driver.play(story.started(1, "go"), *story.edit(1, "a"), story.incomplete(1))


def named(driver: Driver) -> str:
    return "\n".join(driver.rows())


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_the_screen_names_the_new_keys_everywhere(tmp_path: Path, size: tuple[int, int]) -> None:
    async with workspace(tmp_path, settings=OWN, size=size) as driver:
        for key in ("ctrl+y", "f11", "alt+m", "f10", "f12"):
            assert key in named(driver)
        driver.session.running = True
        await driver.play(story.started(1, "go"), *story.running_bash(1))
        assert "f9" in named(driver)
        assert not [name for name in OLD_NAMES if name in named(driver)]
        driver.session.running = False
        await pend(driver)
        await driver.until_shown(" ctrl+y    retry ")
        await driver.until_shown(" alt+d     discard ")
        driver.screen.transcript.focus()
        await driver.until_shown("w, down block")
        assert not [name for name in OLD_NAMES if name in named(driver)]


async def test_the_new_keys_act_and_the_old_ones_do_not(tmp_path: Path) -> None:
    async with workspace(tmp_path, settings=OWN) as driver:
        await pend(driver)
        await driver.press("ctrl+r", "ctrl+b")
        assert driver.screen.sidebar.display
        assert ("retry",) not in driver.session.calls
        await driver.press("ctrl+y")
        await driver.until(lambda: ("retry",) in driver.session.calls)
        await driver.press("f11")
        await driver.until(lambda: not driver.screen.sidebar.display)
        await driver.press("a", "enter", "b", "f4")
        await driver.until(lambda: ("submit", "a\nb") in driver.session.calls)


async def test_what_has_no_key_of_its_own_can_get_one(tmp_path: Path) -> None:
    async with workspace(tmp_path, settings=OWN) as driver:
        await driver.press("alt+c")
        await driver.until_shown("no reply to copy yet")


async def test_a_key_that_was_taken_away_does_nothing_and_is_not_named(tmp_path: Path) -> None:
    settings = UiSettings(keys={"sidebar": (), "retry": ()})
    async with workspace(tmp_path, settings=settings, size=(80, 24)) as driver:
        await pend(driver)
        await driver.press("ctrl+b")
        assert not driver.screen.parts.arrangement.overlay_open
        assert "panels" not in named(driver)
        assert "/retry" in named(driver)


async def test_the_help_page_lists_the_keys_in_use_and_its_own_key_closes_it(tmp_path: Path) -> None:
    async with workspace(tmp_path, settings=OWN) as driver:
        await driver.press("f12")
        await driver.until_shown("ctrl+y, /retry")
        await driver.press("f1")
        assert isinstance(driver.app.screen, HelpScreen)
        await driver.press("f12")
        await driver.until(lambda: driver.app.screen is driver.screen)


async def test_the_key_of_the_palette_can_be_another_actions(tmp_path: Path) -> None:
    settings = UiSettings(keys={"palette": ("f10",), "retry": ("ctrl+p",)})
    async with workspace(tmp_path, settings=settings) as driver:
        await pend(driver)
        await driver.press("ctrl+p")
        await driver.until(lambda: ("retry",) in driver.session.calls)
        await driver.press("f10")
        await driver.until(lambda: isinstance(driver.app.screen, Palette))


async def test_the_help_page_is_filtered_by_what_is_typed(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.press("f1")
        await driver.until_shown("Everywhere, also while you type")
        await driver.type("incomplete turn")
        await driver.until(lambda: not driver.shows("shift+tab"))
        assert driver.shows("ctrl+r, /retry")
        await driver.type("x")
        await driver.until_shown("Nothing here matches.")


async def test_a_wrong_key_ends_the_start_with_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(KeyProblem, match=r"keys\.retry: terminals send ctrl\+i as tab"):
        async with workspace(tmp_path, settings=UiSettings(keys={"retry": ("ctrl+i",)})):
            pass


async def test_pages_act_on_the_new_keys_and_name_them(tmp_path: Path) -> None:
    own = UiSettings(keys={"page_folders": ("f11",), "page_rename": ("alt+r",), "page_edit": ("w",)})
    async with workspace(tmp_path, settings=own, history=FakeHistory()) as driver:
        await driver.press("f3")
        await driver.until_shown("f11 all folders")
        assert driver.shows("alt+r rename") and not driver.shows("ctrl+e")
        await driver.press("alt+r")
        await driver.until_shown("keep the title")
        await driver.press("escape", "f11")
        await driver.until_shown("f11 this folder")


def test_a_page_on_which_one_types_has_no_letters_for_keys() -> None:
    with pytest.raises(KeyProblem, match="for writing"):
        checked({"page_rename": ("m",)})
    assert checked({"page_edit": ("m",)})["page_edit"] == ("m",)
    with pytest.raises(KeyProblem, match="page_view"):
        checked({"page_edit": ("s",)})
