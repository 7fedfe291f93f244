"""Prints and changes settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from keen_tui.domain.reports import Setting
from keen_tui.frontends.line.asking import STAY
from keen_tui.frontends.line.questions import LineQuestion
from keen_tui.frontends.shared.commands.settings import apply_setting
from keen_tui.frontends.shared.pages import SettingsPage
from keen_tui.frontends.shared.questions import Choice

if TYPE_CHECKING:
    from keen_tui.frontends.line.ui import LineUi


async def show_settings(ui: LineUi, page: SettingsPage) -> None:
    """Print every setting, and explain or change one."""
    settings = [setting for setting in page.settings if not setting.in_file]
    choices = (Choice(id=each.name, label=_value(each), takes_words=True) for each in settings)
    question = LineQuestion(
        lines=(
            f"The settings of {page.port.file}.",
            "A number explains a setting; a number and a value change it: 10 auto",
        ),
        choices=(*choices, STAY),
    )
    answer = await ui.put(question)
    setting = next((each for each in settings if answer and each.name == answer.id), None)
    if setting and answer and answer.words:
        value = page.port.change(setting.name, answer.words)
        ui.printer.say(f"{setting.name} is now {value}.")
        apply_setting(ui.context, setting.name, value)
    elif setting:
        ui.printer.read(_meaning(setting))


def _value(setting: Setting) -> str:
    return f"{setting.name}, {setting.value or 'not set'}"


def _meaning(setting: Setting) -> Iterator[str]:
    yield f"{setting.name}: {setting.meaning}"
    yield f"It is {setting.value or 'not set'}{f', from {setting.source}' if setting.source else ''}."
    yield f"Its default: {setting.default or 'not set'}."
    if setting.choices:
        yield f"Its values: {', '.join(setting.choices)}."
