"""The part of the workspace that is about settings: the screen of them, and what a change does at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from keen_tui.errors import KeenError
from keen_tui.ui.screens.model_actions import ModelActions

if TYPE_CHECKING:
    from keen_tui.ui.app import KeenApp


class SettingsActions(ModelActions):
    """Opens the settings screen."""

    def action_settings(self) -> None:
        """Show the settings."""
        desk = self._keen.workplace.settings if self._keen.workplace else None
        if desk is None:
            self.say("There are no settings to change here.")
            return
        from keen_tui.ui.settings.screen import SettingsScreen  # noqa: PLC0415 - not before the first paint

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
