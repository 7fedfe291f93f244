"""The app: it shows an entrance at once, and the workspace as soon as that is made."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Struct
from msgspec.structs import replace
from textual import events, on
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.filter import LineFilter
from textual.screen import Screen

from keen_tui.domain.choices import Notify
from keen_tui.frontends.tui.keys.typeahead import Typeahead, TypedEvent
from keen_tui.frontends.tui.look.glyphs import choose_glyphs
from keen_tui.frontends.tui.look.themes import KeenTheme, Styles, load_theme, load_themes
from keen_tui.frontends.tui.look.usual_theme import DEFAULT_THEME, theme_for
from keen_tui.frontends.tui.startup.entrance import Entrance
from keen_tui.frontends.tui.state.panel_choices import kept_choices
from keen_tui.frontends.tui.terminal.filters import AsciiFilter, ControlFilter
from keen_tui.frontends.tui.terminal.message_queues import drained
from keen_tui.frontends.tui.terminal.terminal_app import TerminalApp

if TYPE_CHECKING:
    from keen_tui.domain.events import Event
    from keen_tui.frontends.shared.port import FrontEndSetup
    from keen_tui.frontends.tui.screen.rest_of_start import RestOfStart
    from keen_tui.frontends.tui.screen.workspace import WorkspaceScreen
    from keen_tui.frontends.tui.state.state import UiState
    from keen_tui.frontends.tui.state.tips import Tips
    from keen_tui.frontends.tui.workspace.announcer import Announcer


class UiSettings(Struct, frozen=True, kw_only=True):
    """How the screen looks and behaves.

    `glyphs` is "unicode", "ascii" or "" (whatever the terminal can draw). `mouse` off leaves selecting to the
    terminal. `keys` are the user's keys for actions, by their ids. `user_themes` is a folder of theme files,
    which win over the shipped ones; `sidebar_file` stores the width of the panels, `tips_file` the tips
    already given (None: no tips). `notify` says how the user, looking elsewhere, is told of turns that took
    `notify_after` seconds. `in_browser`: a browser shows it, and takes some keys for itself.
    """

    theme: str = DEFAULT_THEME
    reduced_motion: bool = False
    glyphs: str = ""
    mouse: bool = True
    keys: Mapping[str, tuple[str, ...]] = {}
    notify: Notify = "desktop"
    notify_after: float = 20.0
    user_themes: Path | None = None
    sidebar_file: Path | None = None
    tips_file: Path | None = None
    in_browser: bool = False


class KeenApp(TerminalApp[str | None]):
    """Shows a session or the tour until the user leaves. Its result is "left", "demo" for the tour, "models"
    for a session after the tour, or None if something else ended it.

    Args:
        prepare: makes that, in a thread, since most of the program is imported for it. What it raises ends
            the app and is its `failure`.
    """

    CSS_PATH = "look/entrance.tcss"
    COMMAND_PALETTE_BINDING = "no_key"  # Textual's own binding can't be given other keys
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+p", "command_palette", show=False, priority=True, id="palette"),
        Binding("f1", "help_on_page", show=False, id="help"),
        Binding("ctrl+z", "suspend", show=False, priority=True, id="suspend"),
    ]
    TITLE = "Keen TUI"

    def __init__(
        self,
        prepare: Callable[[], FrontEndSetup],
        settings: UiSettings | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self.settings = settings or UiSettings()
        self._colour = "NO_COLOR" not in os.environ
        theme = load_theme(self.settings.theme, self.settings.user_themes)
        self._variables = theme.textual().variables
        super().__init__(ansi_color=None if self._colour else True)
        self.live = False
        """True from the moment when the workspace shows events and acts on keys."""
        self.failure: Exception | None = None
        self.setup: FrontEndSetup | None = None
        self.broken_themes: Mapping[str, Sequence[str]] = {}
        """Theme files of the user that can't be used, and why."""
        self._last_key = time.monotonic()
        self._tells_focus = False
        self._is_interrupted = False
        self._prepare = prepare
        self._typeahead = Typeahead(self, self._act_on)
        self._workspace: WorkspaceScreen | None = None
        self._control_filter, self._ascii_filter = ControlFilter(), AsciiFilter()
        self._glyphs = choose_glyphs(self.settings.glyphs or None, os.environ, _encoding())
        self._themes = {theme.name: theme}
        columns = kept_choices(self.settings.sidebar_file).sidebar_columns
        self._entrance = Entrance(Styles(theme, colour=self._colour), self._glyphs, columns)
        self.register_theme(theme.textual())
        self.begin_with_theme(theme.name)

    @property
    def workspace(self) -> WorkspaceScreen:
        """The one screen that is always there, once it is made."""
        assert self._workspace is not None
        return self._workspace

    @property
    def has_typeahead(self) -> bool:
        """Whether a key was typed that has had no effect yet."""
        return not self._typeahead.is_empty

    @property
    def theme_names(self) -> list[str]:
        """Keen's own themes and the user's; Textual's built-in ones lack our roles."""
        return sorted(self._themes)

    def action_command_palette(self) -> None:
        """Open the palette over the current page."""
        if self.live:
            self.workspace.run("palette")

    def copy_to_clipboard(self, text: str) -> None:
        """Copy by way of the terminal and the desktop: not every terminal can."""
        from keen_tui.frontends.tui.terminal.clipboard import clipboard_here

        super().copy_to_clipboard(text)
        threading.Thread(target=clipboard_here().copy, args=(text,), name="clipboard", daemon=True).start()

    def show_guide(self, text: str) -> None:
        """Show one or two rows of text directly above the composer, until changed; empty clears them."""
        self.workspace.guide.text = text

    def suggest(self, text: str) -> None:
        """Put `text` into the composer unless the user has written something there. Typing replaces it."""
        prompt = self.workspace.prompt
        if text and not prompt.text.strip():
            prompt.suggest(text)

    def keep_draft(self) -> None:
        """Keep the unsent text when the program ends."""
        if self._workspace:
            self._workspace.parts.drafts.keep()

    def get_default_screen(self) -> Screen[None]:
        return self._entrance

    def get_driver_class(self) -> type[Driver]:
        """Textual's driver for this terminal, or ours instead of the one for Linux and macOS."""
        chosen = super().get_driver_class()
        if chosen.__name__ != "LinuxDriver":
            return chosen
        from keen_tui.frontends.tui.terminal.driver import KeenDriver

        return KeenDriver

    def get_line_filters(self) -> Sequence[LineFilter]:
        ours = [self._control_filter, self._ascii_filter] if self._glyphs.ascii else [self._control_filter]
        return [*ours, *super().get_line_filters()]

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return self._variables

    async def action_quit(self) -> None:
        """Leave as every other way does: ask first if work would be lost."""
        self._back_to_workspace()
        self.workspace.run("leave")

    def action_help_quit(self) -> None:
        """ctrl+c on a page."""
        self._back_to_workspace()
        self.workspace.run("interrupt")

    def action_help_on_page(self) -> None:
        """Open the help page over a page without one of its own."""
        if self._workspace and self.screen is not self._workspace:
            from keen_tui.frontends.tui.pages.help import HelpScreen

            status = self._workspace.status
            self.push_screen(HelpScreen(status.look, status.glyphs, "pages", self._workspace.commands.own))

    def _back_to_workspace(self) -> None:
        while self.screen is not self.workspace and len(self.screen_stack) > 1:
            self.pop_screen()

    def action_suspend(self) -> None:
        """Suspend: give the terminal to the shell until it resumes the program."""
        if not self.suspend_job():
            self.workspace.say("Keen wasn't started from a shell, so it can't be suspended.")

    @on(Driver.SignalResume)
    def _redraw(self) -> None:
        """Redraw everything after the terminal was used by another program."""
        self.refresh(layout=True)

    def on_mount(self) -> None:
        self.theme_changed_signal.subscribe(self, lambda _: self._restyle())
        self.screen_change_signal.subscribe(self, self._cover)
        self.call_after_refresh(self._move_in)

    def _cover(self, page: Screen[Any]) -> None:
        """Say that the terminal is too small for a page; the workspace does so itself."""
        if self._workspace is None or page in (self._workspace, self._entrance):
            return
        from keen_tui.frontends.tui.widgets.too_small import cover

        status = self._workspace.status
        cover(page, self.size, status.look, status.glyphs)

    def failed(self, error: Exception | None) -> None:
        """Report an unhandled exception like every other bug of ours."""
        self.failure = self.failure or error

    async def on_event(self, event: events.Event) -> None:
        self._tells_focus |= isinstance(event, events.AppFocus | events.AppBlur)
        if self._workspace and isinstance(event, events.InputEvent | events.Paste):
            self._workspace.parts.ticker.put_off_rest()
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            self._last_key = time.monotonic()
            if not self._typeahead.is_open:
                self._echo(event)
            await self._typeahead.take(event)
        else:
            await super().on_event(event)
        if isinstance(event, events.Resize):
            self._cover(self.screen)

    def _echo(self, typed: TypedEvent) -> None:
        """Show keys at the entrance that will take effect in the workspace. ctrl+c leaves at once if nothing
        else waits for the workspace, or if it is pressed again."""
        is_interrupt = isinstance(typed, events.Key) and typed.key == "ctrl+c"
        if is_interrupt and (self._typeahead.is_empty or self._is_interrupted):
            self.exit()
        self._is_interrupted = is_interrupt
        self._entrance.echo(typed)

    async def _act_on(self, typed: TypedEvent) -> None:
        self.workspace.say("")
        self.workspace.parts.tips.leave()
        if isinstance(typed, events.Key) and self.screen is self.workspace:
            self.workspace.turn_to_prompt(typed)
        await super().on_event(typed)

    def _move_in(self) -> None:
        """The entrance is painted: make the workspace."""
        work: Any = self._furnish  # not called here: a coroutine that never starts is complained about
        self.run_worker(work, name="furnish", exit_on_error=False)

    async def _furnish(self) -> None:
        try:
            setup, themes, self.broken_themes = await asyncio.to_thread(self._prepared)
            from keen_tui.frontends.tui.screen.mounting import draw_ahead, mount_panes

            problems = [_shortly(sentences) for sentences in self.broken_themes.values()]
            self.setup = setup
            self._take_keys()
            problems.extend(setup.problems)
            batches = setup.session.bus.subscribe()
            if setup.history:
                await setup.history.begin()
            for theme in themes.values():
                self.register_theme(theme.textual())
            self._themes = themes
            if self.settings.theme not in themes:
                problems.append(f"There is no theme {self.settings.theme!r}; using {DEFAULT_THEME}.")
            self._workspace = self._made(setup)
            await self._answer_keys()
            self._read_styles(self._workspace)
            await self._answer_keys()
            self._workspace.announcer = self._announcer_for(setup)
            self._workspace.parts.tips.tips = self._tips_for(setup)
            await self._answer_keys()
            await self.mount_unseen(self._workspace)
            await mount_panes(self._workspace, self._answer_keys)
            await draw_ahead(self, self._workspace, self._answer_keys)
        except Exception as error:
            self.failure = error
            self.exit()
            return
        self._workspace.hold_picture(True)
        await self.push_screen(self._workspace)
        await drained(self._workspace)
        self._begin(setup, batches, problems)

    async def _answer_keys(self) -> None:
        """Let the entrance show what was typed so far."""
        await drained(self, self._entrance)
        painted = asyncio.Event()
        if self._entrance.call_after_refresh(painted.set):
            await painted.wait()

    def _prepared(self) -> tuple[FrontEndSetup, dict[str, KeenTheme], dict[str, list[str]]]:
        """Runs in a thread: work that needs no event loop, above all imports."""
        from keen_tui.frontends.tui.keys.keymap import use

        use(self.settings.keys, in_browser=self.settings.in_browser)
        return self._prepare(), *load_themes(self.settings.user_themes)

    def _take_keys(self) -> None:
        """Bind the keys in use, on every screen."""
        from keen_tui.frontends.tui.keys.keymap import overrides

        if keys := overrides():
            self.set_keymap(keys)

    def _made(self, setup: FrontEndSetup) -> WorkspaceScreen:
        from keen_tui.frontends.tui.screen.workspace import WorkspaceScreen

        return WorkspaceScreen(
            setup,
            Styles(self._themes[self.theme], colour=self._colour),
            self._glyphs,
            reduced_motion=self.settings.reduced_motion,
            clock=self._clock,
            sidebar_file=self.settings.sidebar_file,
        )

    def _read_styles(self, screen: Screen[None]) -> None:
        """Read the screen's style sheet. Textual would parse all others again with it, and this one twice."""
        self.stylesheet.read_all(screen.css_path)
        self.stylesheet.parse()

    def _tips_for(self, setup: FrontEndSetup) -> Tips | None:
        """None if the tour or a replay explains itself."""
        if self.settings.tips_file is None or setup.companion:
            return None
        from keen_tui.frontends.tui.state.tips import Tips

        return Tips(self.settings.tips_file)

    def _announcer_for(self, setup: FrontEndSetup) -> Announcer:
        from keen_tui.frontends.tui.workspace.announcer import Announcer

        announcer = Announcer(
            self.write_to_terminal,
            setup.session.workspace.name or str(setup.session.workspace),
            clock=self.workspace.clock,
            watched=lambda: self.is_watched,
            notify=self.settings.notify,
            least_seconds=self.settings.notify_after,
        )
        self.app_suspend_signal.subscribe(self, lambda _: announcer.away(), immediate=True)
        self.app_resume_signal.subscribe(self, lambda _: announcer.back(), immediate=True)
        return announcer

    @property
    def farewell(self) -> str:
        """The text to write to the terminal once the screen is gone."""
        announcer = self._workspace.announcer if self._workspace else None
        return announcer.farewell if announcer else ""

    @property
    def way_back(self) -> str:
        """How to continue the session, as a line; "" if nothing was done or it isn't saved."""
        history = self.setup.history if self.setup else None
        if history is None or self._workspace is None or not self._workspace.state.turns:
            return ""
        if flags := self.setup.flags if self.setup else "":
            return f"Continue with: keen-tui {flags}--continue\n"
        return f"Continue with: keen-tui --continue   or   keen-tui --resume {history.session_id}\n"

    @property
    def is_watched(self) -> bool:
        """Whether the user is looking here: the terminal says so, or a key was pressed recently."""
        was_typing = time.monotonic() - self._last_key < self.settings.notify_after
        return self.app_focus if self._tells_focus else was_typing

    def _begin(
        self, setup: FrontEndSetup, batches: AsyncIterator[Sequence[Event]], problems: Sequence[str]
    ) -> None:
        """The workspace is laid out: events are drawn, and keys act on it."""
        from keen_tui.frontends.tui.screen.rest_of_start import RestOfStart
        from keen_tui.frontends.tui.state.bridge import follow

        workspace = self.workspace
        rest = RestOfStart(setup)

        def show(state: UiState) -> None:
            workspace.show(state)
            rest.note_shown(workspace, state)

        bridge = follow(batches, workspace.state, show, self._clock, workspace.prepare)
        self.run_worker(bridge, name="bridge", exit_on_error=False)
        workspace.parts.drafts.bring_back()
        if setup.opening:
            workspace.parts.commands.attempt(workspace.parts.sessions.open(setup.opening))
        if setup.runs:
            self.run_worker(setup.runs.follow(), name="runs", exit_on_error=False)
        if setup.companion:
            self.run_worker(setup.companion(self), name="companion", exit_on_error=False)
        self.run_worker(self._come_alive(rest, problems), name="come alive")

    async def _come_alive(self, rest: RestOfStart, problems: Sequence[str]) -> None:
        """Apply what was typed so far, before anything is asked; then load the rest. The workspace is shown
        with the text that the entrance showed."""

        def show() -> None:
            if problems:
                self.workspace.said.say_too(" ".join(problems))
            self.workspace.hold_picture(False)

        await self._typeahead.open(show)
        if self.screen is self.workspace:
            self.workspace.parts.models.begin()
        self.live = True
        await rest.load()

    def apply_setting(self, name: str, value: Any) -> None:
        """Apply a setting of the screen, by its name in the file, now."""
        match name:
            case "theme":
                wanted = theme_for(value, os.environ)
                self.theme = wanted if wanted in self._themes else DEFAULT_THEME
            case "glyphs":
                self._glyphs = choose_glyphs(value or None, os.environ, _encoding())
                self._restyle()
            case "reduced_motion":
                self.workspace.set_reduced_motion(value)
            case "notify" | "notify_after":
                self.settings = replace(self.settings, **{name: value})
                if announcer := self.workspace.announcer:
                    announcer.notify = self.settings.notify
                    announcer.least_seconds = self.settings.notify_after

    def _restyle(self) -> None:
        """Draw every open screen with the theme and the symbols in use."""
        theme = self._themes.get(self.theme)
        if theme is None or self._workspace is None:
            return
        from keen_tui.frontends.tui.widgets.row_widget import Themed

        styles = Styles(theme, colour=self._colour)
        self._workspace.set_look(styles, self._glyphs)
        for screen in self.screen_stack:
            if screen is not self._workspace:
                for part in screen.walk_children(with_self=True):
                    if isinstance(part, Themed):
                        part.set_look(styles, self._glyphs)


def _shortly(sentences: Sequence[str]) -> str:
    """The first problem of a theme file, and how many more there are."""
    more = len(sentences) - 1
    return f"{sentences[0]} /theme lists {more} more." if more else sentences[0]


def _encoding() -> str:
    stream = sys.__stdout__
    return (stream.encoding if stream else None) or "utf-8"
