"""The commands about settings: the page of them, the theme, and what a change does at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from keen_tui.domain.errors import KeenError
from keen_tui.frontends.tui.commands.models import ModelPages
from keen_tui.frontends.tui.workspace.view import WorkspaceView

if TYPE_CHECKING:
    from keen_tui.frontends.tui.app import KeenApp


class SettingPages:
    """Opens the settings page and the choice of themes."""

    def __init__(self, view: WorkspaceView, models: ModelPages) -> None:
        self._view = view
        self._models = models

    @property
    def theme_names(self) -> list[str]:
        """The themes to choose from."""
        return self._keen.theme_names

    def settings(self) -> None:
        """Show the settings."""
        port = self._keen.setup.settings if self._keen.setup else None
        view = self._view
        if port is None:
            view.say("There are no settings to change here.")
            return
        from keen_tui.frontends.tui.pages.settings.screen import SettingsScreen  # noqa: PLC0415 - not before the first paint

        try:
            settings = port.all()
        except KeenError as error:
            view.say(str(error))
            return
        page = SettingsScreen(
            view.look, view.glyphs, port, settings, apply=self._apply, themes=self.theme_names
        )
        view.open_page(page, self._left)

    def theme(self, name: str = "") -> None:
        """Choose a theme while looking at it, or use the one of that name."""
        view, keen = self._view, self._keen
        if name in keen.theme_names:
            self.keep_theme(name)
            return
        from keen_tui.frontends.tui.pages.settings.theme_picker import ThemePicker  # noqa: PLC0415 - not before the first paint

        if name:
            view.say(f"There is no theme {name}.")
        page = ThemePicker(view.look, view.glyphs, keen.theme_names, keen.broken_themes, in_use=keen.theme)
        view.open_page(page, self._theme_chosen)

    def keep_theme(self, name: str) -> None:
        """Use this theme from now on, and write that down."""
        keen = self._keen
        keen.apply_setting("theme", name)
        if keen.setup and (port := keen.setup.settings):
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
            self._models.choose()

    def _apply(self, name: str, value: Any) -> None:
        """Let a setting take effect now. Raises SessionRefused."""
        match name:
            case "mode":
                self._view.controls.set_mode(value)
            case "memory.policy":
                self._view.controls.set_policy(value)
            case _:
                self._keen.apply_setting(name, value)

    @property
    def _keen(self) -> KeenApp:
        return cast("KeenApp", self._view.app)
