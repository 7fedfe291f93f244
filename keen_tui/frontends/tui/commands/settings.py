"""The pages about settings: all of them, and the theme."""

from __future__ import annotations

from functools import partial

from keen_tui.domain.errors import KeenError
from keen_tui.frontends.shared.commands.models import MODELS
from keen_tui.frontends.shared.commands.settings import apply_setting
from keen_tui.frontends.shared.pages import SettingsPage
from keen_tui.frontends.tui.commands.command_runner import CommandRunner
from keen_tui.frontends.tui.workspace.view import WorkspaceView, keen_of


class SettingPages:
    """Opens the settings page and the choice of themes."""

    def __init__(self, view: WorkspaceView, commands: CommandRunner) -> None:
        self._view = view
        self._commands = commands

    @property
    def theme_names(self) -> list[str]:
        """The themes to choose from."""
        return keen_of(self._view).theme_names

    def open(self, page: SettingsPage) -> None:
        """Show the settings."""
        from keen_tui.frontends.tui.pages.settings.screen import SettingsScreen  # noqa: PLC0415 - not before the first paint

        view = self._view
        screen = SettingsScreen(
            view.look,
            view.glyphs,
            page.port,
            page.settings,
            apply=partial(apply_setting, self._commands.context),
            themes=self.theme_names,
        )
        view.open_page(screen, self._left)

    def theme(self, name: str = "") -> None:
        """Choose a theme with a preview, or use the one with that name."""
        view, keen = self._view, keen_of(self._view)
        if name in keen.theme_names:
            self.keep_theme(name)
            return
        from keen_tui.frontends.tui.pages.settings.theme_picker import ThemePicker  # noqa: PLC0415 - not before the first paint

        if name:
            view.say(f"There is no theme {name}.")
        page = ThemePicker(view.look, view.glyphs, keen.theme_names, keen.broken_themes, in_use=keen.theme)
        view.open_page(page, self._theme_chosen)

    def keep_theme(self, name: str) -> None:
        """Use this theme from now on, and save that."""
        keen = keen_of(self._view)
        keen.apply_setting("theme", name)
        if port := self._commands.context.setup.settings:
            try:
                port.change("theme", name)
            except KeenError as error:
                self._view.say(f"Theme {name}, for now: {error}")
                return
            self._view.say(f"Theme {name}. Remembered in {port.file}.")

    def _theme_chosen(self, name: str | None) -> None:
        if name:
            self.keep_theme(name)

    def _left(self, choose_model: bool | None) -> None:
        if choose_model:
            self._commands.start(MODELS)
