"""The settings, for a front end: what holds, where it comes from, and the change of one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from keen_tui.domain.errors import ConfigError
from keen_tui.domain.reports import Setting
from keen_tui.settings.config import URL_VARIABLES, flat, problem_of, read_settings
from keen_tui.settings.default_file import as_toml
from keen_tui.settings.file import default_of, remember, write_defaults
from keen_tui.settings.flags import settings_of
from keen_tui.settings.load import load_all
from keen_tui.settings.schema import ABOUT, CHOICES, Settings, name_in_file
from keen_tui.settings.toml_lines import line_of
from keen_tui.system.paths import settings_file, text_of

if TYPE_CHECKING:
    from keen_tui.settings.project import RuleCheck

_SWITCH: Final = ("false", "true")


class SettingsService:
    """Reads the settings anew whenever it is asked: the file may have been changed meanwhile.

    Args:
        given: what was given on the command line (`flags.parsed`).
        folder: the folder that is worked in.
        check_rules: checks the rules of a project.
    """

    def __init__(
        self, given: Mapping[str, Any], environ: Mapping[str, str], folder: Path, check_rules: RuleCheck
    ) -> None:
        self._flags = settings_of(given)
        self._environ = environ
        self._folder = folder
        self._check_rules = check_rules

    @property
    def file(self) -> Path:
        """The user's settings file, which need not be there yet."""
        return settings_file(self._environ)

    def all(self) -> tuple[Setting, ...]:
        """Every setting, in the order in which they are shown. Raises ConfigError: the file is wrong."""
        in_use, mine = self._load(self._folder), self._load(None)
        written = flat(read_settings(self.file), str(self.file))
        return tuple(self._setting(name, in_use, mine, written) for name in ABOUT)

    def value(self, name: str) -> Any:
        """Returns the value in use of the setting with that name in the file. Raises ConfigError: the file is
        wrong."""
        return getattr(self._load(self._folder), _field_of(name))

    def change(self, name: str, text: str) -> Any:
        """Set the setting of that name in the file to what the text says; "" takes it out. Gives the value
        that holds now: the command line or a project may say otherwise than the file.

        Raises:
            ConfigError: it can't have that value, or the file can't be read or written.
        """
        field = _field_of(name)
        value = _value_of(field, text.strip())
        if value is not None and (problem := problem_of(field, value)):
            raise ConfigError(f"{name} {problem}.")
        remember({field: value}, self._environ)
        return self.value(name)

    def prepare_file(self) -> Path:
        """The settings file to open in an editor, written now if it was not there. Raises ConfigError."""
        return write_defaults(self._environ)[0]

    def line(self, name: str) -> int:
        """The line of a setting in the file, 0 where it can't be seen."""
        try:
            text = text_of(self.file)
        except (OSError, ValueError):
            return 0
        return line_of(text, name) or line_of(text, name, in_comments=True)

    def _load(self, folder: Path | None) -> Settings:
        return load_all(self._flags, self._environ, folder, self._check_rules)[0]

    def _setting(self, name: str, in_use: Settings, mine: Settings, written: Mapping[str, Any]) -> Setting:
        about, value, default = ABOUT[name], getattr(in_use, name), default_of(name)
        return Setting(
            group=about.group,
            name=name_in_file(name),
            value=_shown(value),
            default=_shown(default),
            source=self._source(name, in_use, mine, written),
            meaning=about.meaning,
            choices=_SWITCH if isinstance(default, bool) else tuple(filter(None, CHOICES.get(name, ()))),
            at_once=about.at_once,
            in_file=about.in_file,
        )

    def _source(self, name: str, in_use: Settings, mine: Settings, written: Mapping[str, Any]) -> str:
        """Where the value comes from, in words; "" for the default."""
        value = getattr(in_use, name)
        if name in self._flags and value == self._flags[name]:
            return "command line"
        if name == "base_url" and value and value != written.get(name):
            return next(each for each in URL_VARIABLES.values() if self._environ.get(each) == value)
        if value != getattr(mine, name):
            return "this project"
        return "settings file" if name in written else ""


def _field_of(name: str) -> str:
    """The setting by its name in the file."""
    return next(field for field in Settings._fields if name_in_file(field) == name)


def _value_of(field: str, text: str) -> Any:
    """Returns the value in a text for that setting; None for ""."""
    if not text:
        return None
    match default_of(field):
        case bool():
            return {"true": True, "false": False}.get(text, text)
        case int():
            return int(text) if text.isdecimal() else text
        case float():
            try:
                return float(text)
            except ValueError:
                return text
    return text


def _shown(value: Any) -> str:
    """A value as it is written on the screen; "" for one that is not set."""
    match value:
        case bool():
            return "true" if value else "false"
        case 0:
            return ""
        case str():
            return value
        case tuple():
            return ", ".join(value)
        case dict() if any(isinstance(each, dict) for each in value.values()):
            return ", ".join(value)
        case dict():
            keys = {name: as_toml(each[0] if len(each) == 1 else each) for name, each in value.items()}
            return ", ".join(f"{name} = {key}" for name, key in keys.items())
    return f"{value:g}"
