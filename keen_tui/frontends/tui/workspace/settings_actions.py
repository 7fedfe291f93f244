"""The part of the workspace that is about settings: the screen of them, and what a change does at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from keen_tui.domain.errors import KeenError
from keen_tui.frontends.tui.workspace.model_actions import ModelActions

if TYPE_CHECKING:
    from keen_tui.frontends.tui.app import KeenApp


class SettingsActions(ModelActions):
    """Opens the settings screen."""

    @property
    def theme_names(self) -> list[str]:
        """The themes to choose from."""
        return self._keen.theme_names

    def action_settings(self) -> None:
        """Show the settings."""
        desk = self._keen.workplace.settings if self._keen.workplace else None
        if desk is None:
            self.say("There are no settings to change here.")
            return
        from keen_tui.frontends.tui.pages.settings.screen import SettingsScreen  # noqa: PLC0415 - not before the first paint

        try:
            settings = desk.all()
        except KeenError as error:
            self.say(str(error))
            return
        screen = SettingsScreen(
            self.status.look,
            self.status.glyphs,
            desk,
            settings,
            apply=self._apply_setting,
            themes=self._keen.theme_names,
        )
        self.app.push_screen(screen, self._settings_left)

    def action_theme(self, name: str = "") -> None:
        """Choose a theme while looking at it, or use the one of that name."""
        if name in self._keen.theme_names:
            self.keep_theme(name)
            return
        from keen_tui.frontends.tui.pages.settings.theme_picker import ThemePicker  # noqa: PLC0415 - not before the first paint

        if name:
            self.say(f"There is no theme {name}.")
        keen = self._keen
        picker = ThemePicker(
            self.status.look, self.status.glyphs, keen.theme_names, keen.broken_themes, in_use=keen.theme
        )
        keen.push_screen(picker, self._theme_chosen)

    def keep_theme(self, name: str) -> None:
        """Use this theme from now on, and write that down."""
        keen = self._keen
        keen.apply_setting("theme", name)
        if keen.workplace and (desk := keen.workplace.settings):
            try:
                desk.change("theme", name)
            except KeenError as error:
                self.say(f"Theme {name}, for now: {error}")
                return
            self.say(f"Theme {name}. Remembered in {desk.file}.")

    def _theme_chosen(self, name: str | None) -> None:
        if name:
            self.keep_theme(name)

    def _settings_left(self, choose_model: bool | None) -> None:
        if choose_model:
            self.action_models()

    def _apply_setting(self, name: str, value: Any) -> None:
        """Let a setting take effect now. Raises SessionRefused."""
        match name:
            case "mode":
                self.session.set_mode(value)
            case "memory.policy":
                self.session.set_policy(value)
            case _:
                self._keen.apply_setting(name, value)

    @property
    def _keen(self) -> KeenApp:
        return cast("KeenApp", self.app)
