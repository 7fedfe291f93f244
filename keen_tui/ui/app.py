"""The app: theme, signs, the bridge to the session's bus, and the one screen that is always there."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import ClassVar

from msgspec import Struct
from textual import events
from textual.app import App
from textual.binding import BindingType
from textual.command import Provider
from textual.filter import LineFilter

from keen_tui.history import SavedSession
from keen_tui.plain import clean
from keen_tui.ui.bridge import follow
from keen_tui.ui.filters import ControlFilter
from keen_tui.ui.glyphs import choose_glyphs
from keen_tui.ui.port import HistoryPort, ModelsPort, SessionPort
from keen_tui.ui.screens.workspace import WorkspaceScreen
from keen_tui.ui.themes import DEFAULT_THEME, Styles, load_themes

_YOUNG_OBJECTS = 2_000
_ROUNDS_BEFORE_FULL = 100_000


class UiSettings(Struct, frozen=True, kw_only=True):
    """How the screen looks and behaves.

    `glyphs` is "unicode", "ascii" or "" (what the terminal can draw). `mouse` off leaves selecting to
    the terminal. `user_themes` is a folder of theme files, which win over the shipped ones.
    `keeps_pending`: the work of an incomplete turn outlives the program.
    """

    theme: str = DEFAULT_THEME
    reduced_motion: bool = False
    glyphs: str = ""
    mouse: bool = True
    user_themes: Path | None = None
    keeps_pending: bool = False


class KeenApp(App[str | None]):
    """Shows a session until the user leaves.

    Args:
        models: the choice among models, None where there is none, as in the tour.
        history: the saved sessions, None where none are kept.
        opening: the session to go on with as soon as the screen is painted.
        intro: lines of greeting for as long as nothing has been said.
        companion: runs beside the screen from the moment it is live, for example a guided tour.
    """

    CSS_PATH = "keen.tcss"
    COMMAND_PALETTE_BINDING = "ctrl+p"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = []
    TITLE = "Keen TUI"

    def __init__(
        self,
        session: SessionPort,
        *,
        settings: UiSettings | None = None,
        models: ModelsPort | None = None,
        history: HistoryPort | None = None,
        opening: SavedSession | None = None,
        intro: tuple[str, ...] = (),
        companion: Callable[[KeenApp], Awaitable[None]] | None = None,
    ) -> None:
        self.settings = settings or UiSettings()
        self._themes, problems = load_themes(self.settings.user_themes)
        colourless = "NO_COLOR" in os.environ
        super().__init__(ansi_color=True if colourless else None)
        self.session = session
        self._companion = companion
        self._opening = opening
        self._control_filter = ControlFilter()
        for theme in self._themes.values():
            self.register_theme(theme.textual())
        self._glyphs = choose_glyphs(self.settings.glyphs or None, os.environ, _encoding())
        name = self.settings.theme
        if name not in self._themes:
            problems.append(f"There is no theme {name!r}; using {DEFAULT_THEME}.")
            name = DEFAULT_THEME
        self._colour = not colourless
        self._batches = session.bus.subscribe()
        self._problems = problems
        self.workspace = WorkspaceScreen(
            session,
            Styles(self._themes[name], colour=self._colour),
            self._glyphs,
            models=models,
            history=history,
            intro=intro,
            reduced_motion=self.settings.reduced_motion,
            keeps_pending=self.settings.keeps_pending,
        )
        self.theme = name

    @property
    def theme_names(self) -> list[str]:
        """Keen's own themes and the user's; Textual's built-in ones lack our roles."""
        return sorted(self._themes)

    @staticmethod
    def commands() -> type[Provider]:
        """What the palette offers; imported when it is opened."""
        from keen_tui.ui.screens.palette import KeenCommands  # noqa: PLC0415 - not before the first paint

        return KeenCommands

    COMMANDS = {lambda: KeenApp.commands()}  # noqa: RUF012 - as Textual declares it

    def show_guide(self, text: str) -> None:
        """One or two rows of words directly above the composer, until changed; empty clears them."""
        self.workspace.guide.text = text

    def suggest(self, text: str) -> None:
        """Put `text` into the composer, unless the user has written something there."""
        prompt = self.workspace.prompt
        if text and not prompt.text.strip():
            prompt.write(text)

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [self._control_filter, *super().get_line_filters()]

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return self._themes[DEFAULT_THEME].textual().variables

    async def action_quit(self) -> None:
        """Leave as every other way does: by asking where work would be lost."""
        self._back_to_workspace()
        self.workspace.action_leave()

    def action_help_quit(self) -> None:
        """ctrl+c on a screen that lies over the workspace."""
        self._back_to_workspace()
        self.workspace.action_interrupt()

    def _back_to_workspace(self) -> None:
        while self.screen is not self.workspace and len(self.screen_stack) > 1:
            self.pop_screen()

    def on_mount(self) -> None:
        self.push_screen(self.workspace)
        self.theme_changed_signal.subscribe(self, lambda _: self._restyle())
        self.call_after_refresh(self._when_painted)

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key) and not event.is_forwarded:
            self.workspace.forget_notice()
        await super().on_event(event)

    def _when_painted(self) -> None:
        """The screen is painted: from now on events are drawn, and what can wait is loaded."""
        self.run_worker(
            follow(self._batches, self.workspace.state, self.workspace.show),
            name="bridge",
            exit_on_error=False,
        )
        if self._problems:
            self.workspace.say(" ".join(self._problems))
        self.workspace.begin()
        if self._opening:
            self.workspace.go_on_with(self._opening)
        if self._companion:
            self.run_worker(self._run_companion(self._companion), name="companion", exit_on_error=False)
        self.session.warm_up()
        threading.Thread(target=_load_markdown, name="load-markdown", daemon=True).start()
        _tame_garbage_collection()

    async def _run_companion(self, companion: Callable[[KeenApp], Awaitable[None]]) -> None:
        await companion(self)

    def _restyle(self) -> None:
        theme = self._themes.get(self.theme)
        if theme:
            self.workspace.set_look(Styles(theme, colour=self._colour), self._glyphs)


async def run_workspace(
    session: SessionPort,
    *,
    settings: UiSettings | None = None,
    models: ModelsPort | None = None,
    history: HistoryPort | None = None,
    opening: SavedSession | None = None,
    intro: tuple[str, ...] = (),
    companion: Callable[[KeenApp], Awaitable[None]] | None = None,
) -> str | None:
    """Show the session until the user leaves; then stop its turn and close it. Returns the app's result."""
    app = KeenApp(
        session,
        settings=settings,
        models=models,
        history=history,
        opening=opening,
        intro=intro,
        companion=companion,
    )
    try:
        if history:
            await history.begin()
        return await app.run_async(mouse=app.settings.mouse)
    finally:
        await session.close()
        if history and (problem := await history.close()):
            sys.stderr.write(f"keen-tui: {clean(problem)}\n")  # the screen is gone


def _load_markdown() -> None:
    """Parser and highlighter, so that the first reply need not wait for them (40 ms)."""
    from keen_tui.ui.transcript.stream import warm_up  # noqa: PLC0415 - not before the first paint

    warm_up()


def _encoding() -> str:
    stream = sys.__stdout__
    return (stream.encoding if stream else None) or "utf-8"


def _tame_garbage_collection() -> None:
    """What is loaded stays: freeze it, so that later collections are short (measured: 170 ms to 11 ms)."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS, 10, _ROUNDS_BEFORE_FULL)
    gc.enable()
