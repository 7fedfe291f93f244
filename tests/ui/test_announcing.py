"""The title of the terminal and the bell, as the program writes them."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.events import AppBlur, AppFocus

from keen_tui.domain.choices import Notify
from keen_tui.frontends.tui.app import UiSettings
from keen_tui.frontends.tui.workspace.desktop_notification import BELL
from tests.support import story
from tests.support.workspace import Driver, workspace


class Written:
    """A terminal that only remembers."""

    def __init__(self) -> None:
        self.all = ""
        self.bells = 0

    def write(self, data: str) -> None:
        self.all += data
        self.bells += data == BELL


async def long_turn(driver: Driver) -> None:
    driver.session.running = True
    await driver.play(story.started(1, "go"))
    driver.session.running = False
    await driver.play(story.done(1, seconds=52.0))


async def test_the_title_is_put_aside_once_and_follows_the_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    terminal = Written()
    async with workspace(tmp_path, terminal=terminal) as driver:
        await long_turn(driver)
        assert terminal.all.count("\x1b[22;2t") == 1
        titles = [part.split("\x1b\\")[0] for part in terminal.all.split("\x1b]2;")[1:]]
        name = tmp_path.name
        assert titles == [f"keen: {name}", f"keen: {name}, working", f"keen: {name}"]
        assert driver.app.farewell == "\x1b[23;2t"


@pytest.mark.parametrize(
    ("notify", "focused", "rings"),
    [("bell", False, 1), ("bell", True, 0), ("off", False, 0)],
)
async def test_the_bell_rings_for_who_looks_elsewhere(
    tmp_path: Path, notify: Notify, focused: bool, rings: int
) -> None:
    terminal = Written()
    async with workspace(tmp_path, terminal=terminal, settings=UiSettings(notify=notify)) as driver:
        driver.app.post_message(AppFocus() if focused else AppBlur())
        await driver.until(lambda: driver.app.is_watched is focused)
        await long_turn(driver)
        assert terminal.bells == rings


async def test_without_focus_reports_a_key_says_that_the_user_is_there(tmp_path: Path) -> None:
    terminal = Written()
    async with workspace(tmp_path, terminal=terminal, settings=UiSettings(notify="bell")) as driver:
        await driver.press("a")
        await long_turn(driver)
        assert not terminal.bells


@pytest.mark.parametrize(
    ("project", "folder", "is_asked"), [("", "bin", False), ("", "/bin", False), ("work", "/bin", True)]
)
async def test_tmux_is_asked_but_no_program_of_that_name_in_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, project: str, folder: str, is_asked: bool
) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/tmux").write_text("#!/bin/sh\necho on\n")
    (tmp_path / "bin/tmux").chmod(0o755)
    monkeypatch.chdir(tmp_path / project)
    monkeypatch.setenv("PATH", f"{tmp_path}{folder}" if folder.startswith("/") else folder)
    monkeypatch.setenv("TMUX", "/tmp/tmux,1,0")
    monkeypatch.setenv("KITTY_WINDOW_ID", "1")
    terminal = Written()
    async with workspace(tmp_path, terminal=terminal, settings=UiSettings(notify="desktop")) as driver:
        driver.app.post_message(AppBlur())
        await driver.until(lambda: driver.app.is_watched is False)
        await long_turn(driver)
        await driver.until(lambda: "\x1bPtmux;" in terminal.all or bool(terminal.bells))
        assert bool(terminal.bells) is not is_asked
