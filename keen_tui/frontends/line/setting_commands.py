"""The commands about what holds here: permissions and settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from keen_tui.domain.reports import Setting
from keen_tui.frontends.line.asking import STAY
from keen_tui.frontends.line.command_context import LineContext
from keen_tui.frontends.line.questions import LineChoice, LineQuestion
from keen_tui.frontends.shared.command import kept


class SettingCommands:
    """Each method does what a command asks for; what can't be done is raised as a sentence."""

    def __init__(self, context: LineContext) -> None:
        self._context = context

    async def settings(self, words: str) -> None:
        """Tell every setting, and change one."""
        port = kept(self._context.setup.settings, "There are no settings to change here.")
        settings = [setting for setting in port.all() if not setting.in_file]
        choices = (LineChoice(id=each.name, label=_value(each), takes_words=True) for each in settings)
        question = LineQuestion(
            lines=(
                f"The settings of {port.file}.",
                "A number explains a setting; a number and a value change it: 10 auto",
            ),
            choices=(*choices, STAY),
        )
        answer = await self._context.ask(question)
        setting = next((each for each in settings if answer and each.name == answer.id), None)
        if setting and answer and answer.words:
            self._apply(setting, port.change(setting.name, answer.words))
        elif setting:
            self._context.printer.read(_meaning(setting))

    def _apply(self, setting: Setting, value: Any) -> None:
        """Let a setting take effect now, where it can."""
        self._context.say(f"{setting.name} is now {value}.")
        match setting.name:
            case "mode":
                self._context.controls.set_mode(value)
            case "memory.policy":
                self._context.controls.set_policy(value)
            case _:
                self._context.say("It takes effect from the next start on.")


def _value(setting: Setting) -> str:
    return f"{setting.name}, {setting.value or 'not set'}"


def _meaning(setting: Setting) -> Iterator[str]:
    yield f"{setting.name}: {setting.meaning}"
    yield f"It is {setting.value or 'not set'}{f', from {setting.source}' if setting.source else ''}."
    yield f"Its default: {setting.default or 'not set'}."
    if setting.choices:
        yield f"Its values: {', '.join(setting.choices)}."
