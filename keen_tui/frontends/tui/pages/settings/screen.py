"""The settings screen. What can take effect at once does; everything is written into the user's file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace
from rich.text import Text
from textual import on

from keen_tui.domain.errors import KeenError
from keen_tui.domain.reports import Setting
from keen_tui.frontends.shared.port import SettingsPort
from keen_tui.frontends.tui.keys.keymap import shown
from keen_tui.frontends.tui.look.cells import cut_path
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.key import MOVES, Key
from keen_tui.frontends.tui.pages.page_screen import EDGE, PageScreen
from keen_tui.frontends.tui.pages.row_list import RowList
from keen_tui.frontends.tui.pages.settings.setting_list import SettingList, detail_rows
from keen_tui.frontends.tui.terminal.external_editor import open_in_editor
from keen_tui.frontends.tui.widgets.field import Field
from keen_tui.frontends.tui.widgets.row_widget import DrawnRows, join_facts
from keen_tui.system.paths import home_relative

_MODEL = ("provider", "model", "effort")
"""Settings that the model picker changes: they belong together."""


class SettingsScreen(PageScreen[bool]):
    """Dismissed with True if the user wants to choose a model.

    Args:
        settings: all of them, read when the screen opens.
        apply: makes a setting that takes effect at once do so: its name and its value.
        themes: the names of the themes to choose from.
    """

    heading_edges = (EDGE, 2 * EDGE)
    drops = -2
    says = "beside"

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
        super().__init__(styles, glyphs)
        self._port = port
        self._apply = apply
        self._themes = tuple(themes)
        self._list = self.body = SettingList(styles, glyphs)
        detail = DrawnRows(styles, glyphs, self._detail_rows, id="setting-detail")
        self._search = Field(self.press, id="setting-search", placeholder="type to find a setting")
        self._field = Field(self.press, id="setting-field")
        self._field.display = False
        self.parts = (self.head, self._search, self._list, detail, self._field, self.foot)
        self._show(settings)

    @property
    def chosen(self) -> Setting | None:
        """The setting that keys change; None on the row that unfolds the rest, and where nothing fits."""
        chosen = self._list.chosen
        return chosen if isinstance(chosen, Setting) else None

    def heading(self) -> tuple[Text, str]:
        settings = self._list.settings
        file = Text(cut_path(home_relative(self._port.file), 50), self.look("soft"))
        changed = sum(bool(setting.source) for setting in settings)
        title = Text("Settings", self.look("text", bold=True))
        return join_facts(title, file), f"{changed} of {len(settings)} set"

    def keys(self) -> Sequence[Key]:
        """While a value is typed, only its own keys do something."""
        if self._field.display:
            return Key("enter", "set it", self._keep), Key("escape", "cancel", self._stop_typing)
        setting, opens = self.chosen, "edit_draft"
        changes = Key("enter", "show them" if self._list.chosen else "")
        if setting and setting.in_file:
            changes, opens = MOVES, "enter,edit_draft"
        elif setting:
            chooses = setting.name in _MODEL
            turns = bool(setting.choices) and not chooses
            changes = Key("enter,left,right" if turns else "enter", "choose a model" if chooses else "change")
        resets = setting and setting.source == "settings file" and not setting.in_file
        return (
            MOVES,
            changes,
            Key("page_reset", "default" if resets else "", self._reset),
            Key(opens, "open the file"),
            Key("escape", "back", self.leave),
            Key("enter", does=self._change_chosen),
            Key("edit_draft", does=self._edit),
            Key("left", does=partial(self._turn, -1)),
            Key("right", does=partial(self._turn, 1)),
        )

    def typed(self, text: str) -> None:
        if not self._field.display and text != self._list.wanted:
            self.forget()
            self._list.filter(text)

    def leave(self) -> None:
        """Leave the search, or the screen."""
        if self._search.value:
            self._search.write("")
        else:
            self.dismiss(False)

    def _turn(self, step: int) -> None:
        """The next or the last of the values that can be listed."""
        setting = self.chosen
        if setting and setting.choices:
            place = setting.choices.index(setting.value) if setting.value in setting.choices else -1
            self._change(setting, setting.choices[(place + step) % len(setting.choices)])

    def _change_chosen(self) -> None:
        """Change the chosen setting in the way that it is changed, or unfold the rest."""
        setting = self.chosen
        if setting is None:
            self._unfold()
        elif setting.name in _MODEL:
            self.dismiss(True)
        elif setting.in_file:
            self._edit()
        elif setting.choices:
            self._turn(1)
        else:
            self._field.write(setting.value)
            self._field.placeholder = f"{setting.name}, empty for the default"
            self._field.display = True
            self._field.focus()

    @on(RowList.Clicked)
    def _unfold(self) -> None:
        if self._list.chosen and self.chosen is None:
            self._list.unfold()
            self.redraw()

    def _reset(self) -> None:
        """Take the chosen setting out of the file."""
        if self.chosen:
            self._change(self.chosen, "")

    def _keep(self) -> None:
        """Set what was typed."""
        if self.chosen and self._change(self.chosen, self._field.value):
            self._stop_typing()

    def _edit(self) -> None:
        """Open the file in the user's own editor, at the chosen setting."""
        self.run_worker(self._edit_file(), name="editor", group="editor", exclusive=True)

    async def _edit_file(self) -> None:
        try:
            file = self._port.prepare_file()
            line = self._port.line(self.chosen.name) if self.chosen else 0
            await open_in_editor(self.app, file, line)
            before = {setting.name: setting.value for setting in self._list.settings}
            self._reload()
        except KeenError as error:
            self.say(str(error))
            return
        changed = [setting for setting in self._list.settings if setting.value != before[setting.name]]
        for setting in changed:
            if setting.at_once:
                self._apply(setting.name, self._port.value(setting.name))
        later = [setting.name for setting in changed if not setting.at_once]
        self.say(f"{', '.join(later)}: at the next start." if later else "")

    def _change(self, setting: Setting, text: str) -> bool:
        """Write it, let it take effect, show it. False: it can't be."""
        if setting.in_file:
            self.say(f"Edit this one in the file ({shown('edit_draft')}).")
            return False
        try:
            value = self._port.change(setting.name, text)
            if setting.at_once:
                self._apply(setting.name, value)
            self._reload()
        except KeenError as error:
            self.say(str(error))
            return False
        self.say(self._said(next(each for each in self._list.settings if each.name == setting.name), text))
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

    def _stop_typing(self) -> None:
        self._field.display = False
        self.set_focus(self._search)

    def _detail_rows(self, width: int, _: int) -> list[Text]:
        """What the chosen setting means, in half of the terminal at most."""
        rows = detail_rows(self.chosen, width, self.look)
        return rows[: self.app.size.height // 2 + 1]
