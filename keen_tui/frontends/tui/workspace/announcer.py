"""Tells what happens to a user who looks elsewhere: in the terminal's title, by a bell, on the desktop."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable

from keen_tui.domain.choices import Notify
from keen_tui.frontends.tui.state.state import UiState
from keen_tui.frontends.tui.workspace.desktop_notification import (
    BELL,
    GIVE_TITLE_BACK,
    KEEP_TITLE,
    has_title,
    news_of,
    notification,
    title_of,
    title_sequence,
)
from keen_tui.system.executables import find_program


class Announcer:
    """Reads the states of the screen. Writes nothing while the user is there, but for the title.

    Args:
        write: puts a sequence out to the terminal.
        folder: the name of the project.
        clock: that of the states.
        watched: whether the user looks at this terminal now, or may be taken to.
    """

    def __init__(
        self,
        write: Callable[[str], None],
        folder: str,
        *,
        clock: Callable[[], float],
        watched: Callable[[], bool],
        notify: Notify,
        least_seconds: float,
    ) -> None:
        self.notify: Notify = notify
        self.least_seconds = least_seconds
        self._write = write
        self._folder = folder
        self._clock = clock
        self._watched = watched
        self._state = UiState()
        self._title = self._shown = ""
        self._is_away = False
        self._telling: asyncio.Task[None] | None = None

    def show(self, state: UiState) -> None:
        """Tell what has changed since the last state."""
        before, self._state = self._state, state
        if not state.restoring:
            self._show_title(title_of(state, self._folder))
        news = news_of(before, state, self._clock(), self.least_seconds)
        if not news or self.notify == "off" or self._watched() or self._is_away:
            return
        if self.notify == "bell":
            self._write(BELL)
        else:
            self._telling = asyncio.create_task(self._tell(news))

    def away(self) -> None:
        """The terminal is somebody else's for a while."""
        self._is_away = True

    def back(self) -> None:
        """It is ours again, with whatever title it has now."""
        self._is_away, self._shown = False, ""
        self._show_title(self._title)

    @property
    def farewell(self) -> str:
        """The sequence that restores the terminal's old title once the screen is closed."""
        return GIVE_TITLE_BACK if self._title else ""

    def _show_title(self, title: str) -> None:
        is_first, self._title = not self._title, title
        if title == self._shown or self._is_away or not has_title(os.environ):
            return
        self._write(KEEP_TITLE + title_sequence(title) if is_first else title_sequence(title))
        self._shown = title

    async def _tell(self, news: str) -> None:
        passes = bool(os.environ.get("TMUX")) and await asyncio.to_thread(_tmux_passes)
        self._write(notification(self._folder, news, os.environ, passes=passes))


def _tmux_passes() -> bool:
    """Whether tmux passes sequences on to the terminal around it."""
    tmux = find_program("tmux")
    if not tmux:
        return False
    command = (tmux, "show-options", "-gv", "allow-passthrough")
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=2, check=False).stdout
    except (OSError, subprocess.SubprocessError):
        return False
    return told.strip() in ("on", "all")
