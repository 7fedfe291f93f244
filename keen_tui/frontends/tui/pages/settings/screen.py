"""The settings screen. What can take effect at once does; everything is written into the user's file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from msgspec.structs import replace
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from keen_tui.domain.errors import KeenError
from keen_tui.domain.reports import Setting
from keen_tui.frontends.shared.port import SettingsPort
from keen_tui.frontends.tui.keys.keymap import field_keys, same_key, shown
from keen_tui.frontends.tui.look.cells import cut_path
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.context.foot import Foot
from keen_tui.frontends.tui.pages.sessions.bars import SessionsHead
from keen_tui.frontends.tui.pages.settings.setting_list import SettingDetail, SettingList
from keen_tui.frontends.tui.terminal.external_editor import open_in_editor
from keen_tui.frontends.tui.terminal.laid_out_once import KeenScreen
from keen_tui.frontends.tui.widgets.field import Field
from keen_tui.system.paths import home_relative

_LOW = 16
"""Rows below which nothing is left blank."""
_MODEL = ("provider", "model", "effort")
"""Settings that the model picker changes: they belong together."""

_KEYS = {
    "escape": "leave",
    "enter": "change",
    "up": "move(-1)",
    "down": "move(1)",
    "pageup": "move(-10)",
    "pagedown": "move(10)",
    "ctrl+home": "move(-1000)",
    "ctrl+end": "move(1000)",
    "left": "turn(-1)",
    "right": "turn(1)",
}
_ACTIONS = {"page_reset": "reset", "edit_draft": "edit"}


class SettingsScreen(KeenScreen[bool]):
    """Dismissed with True if the user wants to choose a model.

    Args:
        settings: all of them, read when the screen opens.
        apply: makes a setting that takes effect at once do so: its name and its value.
        themes: the names of the themes to choose from.
    """

    AUTO_FOCUS = "#setting-search"
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, action, show=False) for key, action in _KEYS.items()),
        *(same_key(action_id, does) for action_id, does in _ACTIONS.items()),
    ]

    def __init__(
        self,
        styles: Styles,
        glyphs: Glyphs,
        port: SettingsPort,
        settings: Sequence[Setting],
        *,
        apply: Callable[[str, Any], None],
        themes: Sequence[str],
    ) -> None:
        super().__init__()
        self._port = port
        self._apply = apply
        self._themes = tuple(themes)
        self._typing = False
        self._head = SessionsHead(styles, glyphs)
        self._list = SettingList(styles, glyphs)
        self._detail = SettingDetail(styles, glyphs)
        self._search = Field(id="setting-search", keys=_KEYS | field_keys(_ACTIONS))
        self._search.placeholder = "type to find a setting"
        self._field = Field(id="setting-field", keys={"enter": "keep", "escape": "leave"})
        self._field.display = False
        self._foot = Foot(styles, glyphs)
        self._show(settings)

    @property
    def chosen(self) -> Setting | None:
        """The setting that keys change; None on the row that unfolds the rest, and where nothing fits."""
        chosen = self._list.chosen
        return chosen if isinstance(chosen, Setting) else None

    def compose(self) -> ComposeResult:
        yield self._head
        yield self._search
        yield self._list
        yield self._detail
        yield self._field
        yield self._foot

    def on_resize(self) -> None:
        self.set_class(self.size.height < _LOW, "-low")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While a value is typed, only its own keys do something."""
        return not self._typing or action not in ("move", "turn", "change", "reset", "edit")

    def action_move(self, step: int) -> None:
        """Choose another setting."""
        self._list.move(step)

    def action_turn(self, step: int) -> None:
        """The next or the last of the values that can be listed."""
        setting = self.chosen
        if setting and setting.choices:
            place = setting.choices.index(setting.value) if setting.value in setting.choices else -1
            self._change(setting, setting.choices[(place + step) % len(setting.choices)])

    def action_change(self) -> None:
        """Change the chosen setting in the way that it is changed, or unfold the rest."""
        setting = self.chosen
        if setting is None:
            if self._list.chosen:
                self._list.unfold()
        elif setting.name in _MODEL:
            self.dismiss(True)
        elif setting.in_file:
            self.action_edit()
        elif setting.choices:
            self.action_turn(1)
        else:
            self._typing = True
            self._field.write(setting.value)
            self._field.placeholder = f"{setting.name}, empty for the default"
            self._field.display = True
            self._field.focus()
            self._tell()

    def action_reset(self) -> None:
        """Take the chosen setting out of the file."""
        if self.chosen:
            self._change(self.chosen, "")

    def action_keep(self) -> None:
        """Set what was typed."""
        if self.chosen and self._change(self.chosen, self._field.value):
            self._stop_typing()

    def action_leave(self) -> None:
        """Leave the field, the search, or the screen."""
        if self._typing:
            self._stop_typing()
            self._foot.say("")
        elif self._search.value:
            self._search.write("")
        else:
            self.dismiss(False)

    def action_edit(self) -> None:
        """Open the file in the user's own editor, at the chosen setting."""
        self.run_worker(self._edit(), name="editor", group="editor", exclusive=True)

    @on(Input.Changed, "#setting-search")
    def _filter(self, changed: Input.Changed) -> None:
        if changed.value != self._list.wanted:
            self._list.filter(changed.value)

    @on(SettingList.Moved)
    def _moved(self) -> None:
        self._foot.say("")
        self._tell()

    async def _edit(self) -> None:
        try:
            file = self._port.prepare_file()
            line = self._port.line(self.chosen.name) if self.chosen else 0
            await open_in_editor(self.app, file, line)
            before = {setting.name: setting.value for setting in self._list.settings}
            self._reload()
        except KeenError as error:
            self._foot.say(str(error))
            return
        changed = [setting for setting in self._list.settings if setting.value != before[setting.name]]
        for setting in changed:
            if setting.at_once:
                self._apply(setting.name, self._port.value(setting.name))
        later = [setting.name for setting in changed if not setting.at_once]
        self._foot.say(f"{', '.join(later)}: at the next start." if later else "")

    def _change(self, setting: Setting, text: str) -> bool:
        """Write it, let it take effect, show it. False: it can't be."""
        if setting.in_file:
            self._foot.say(f"Edit this one in the file ({shown('edit_draft')}).")
            return False
        try:
            value = self._port.change(setting.name, text)
            if setting.at_once:
                self._apply(setting.name, value)
            self._reload()
        except KeenError as error:
            self._foot.say(str(error))
            return False
        self._foot.say(
            self._said(next(each for each in self._list.settings if each.name == setting.name), text)
        )
        return True

    def _said(self, setting: Setting, text: str) -> str:
        """Returns a sentence about a saved change, "" if there is nothing to add."""
        if setting.source not in ("", "settings file"):
            return f"Saved, but the {setting.source} overrides it."
        if not setting.at_once:
            return "It takes effect at the next start."
        return "" if text else "Back to the default."

    def _reload(self) -> None:
        self._show(self._port.all())

    def _show(self, settings: Sequence[Setting]) -> None:
        with_themes = [
            replace(setting, choices=self._themes) if setting.name == "theme" else setting
            for setting in settings
        ]
        self._list.show(with_themes)
        changed = sum(bool(setting.source) for setting in settings)
        file = cut_path(home_relative(self._port.file), 50)
        self._head.show("Settings", file, f"{changed} of {len(settings)} set")
        self._tell()

    def _tell(self) -> None:
        setting, glyphs = self.chosen, self._list.glyphs
        self._detail.show(setting)
        if self._typing:
            self._foot.show(("enter", "set it"), ("esc", "cancel"))
            return
        keys = [(shown("edit_draft"), "open the file"), ("esc", "back")]
        if setting is None:
            unfolds = [("enter", "show them")] if self._list.chosen else []
            self._foot.show(*unfolds, *keys)
            return
        if setting.source == "settings file" and not setting.in_file:
            keys.insert(0, (shown("page_reset"), "default"))
        if setting.in_file:
            keys[0] = (f"enter, {shown('edit_draft')}", "open the file")
        elif setting.name in _MODEL:
            keys.insert(0, ("enter", "choose a model"))
        else:
            arrows = f", {glyphs.left}{glyphs.right}" if setting.choices else ""
            keys.insert(0, (f"enter{arrows}", "change"))
        self._foot.show(*keys)

    def _stop_typing(self) -> None:
        self._typing = False
        self._field.display = False
        self.set_focus(self._search)
        self._tell()
