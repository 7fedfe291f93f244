"""Reads command lines, and says in plain sentences what is wrong with one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from keen_tui.domain.errors import ConfigError
from keen_tui.text.nearest import did_you_mean, either

_MISSING = "the following arguments are required: "
_NO_VALUE = ": ignored explicit argument "


class LineParser(argparse.ArgumentParser):
    """A parser that raises ConfigError where argparse would print and exit."""

    def flags(self) -> list[str]:
        """All flags, as they are written, with those of its commands."""
        parsers = [self, *(parser for action in self._actions for parser in _commands_of(action))]
        return [name for parser in parsers for action in parser._actions for name in action.option_strings]

    def error(self, message: str) -> NoReturn:
        if message.startswith(_MISSING):
            message = f"{self.prog} needs {message.removeprefix(_MISSING).partition(',')[0]}"
        elif _NO_VALUE in message:
            names = message.removeprefix("argument ").partition(":")[0].split("/")
            message = f"{[name for name in names if not name.startswith('--no-')][-1]} takes no value"
        raise ConfigError(f"{message}. {self.see_help}")

    @property
    def see_help(self) -> str:
        """Where to read more."""
        return f"See {self.prog} --help all."

    def show(self, text: str) -> NoReturn:
        """Print this text, then raise SystemExit."""
        self._print_message(text, sys.stdout)
        self.exit()

    def refuse(self, unknown: Sequence[str]) -> NoReturn:
        """Raises ConfigError about words that nothing takes."""
        flag = next((word.partition("=")[0] for word in unknown if word.startswith("-")), "")
        if flag:
            meant = did_you_mean(flag, self.flags(), 2)
            raise ConfigError(f"There is no flag {flag}.{meant} {self.see_help}")
        raise ConfigError(f"Unexpected argument {unknown[0]!r}. {self.see_help}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            raise ConfigError(not_among(self._named(action), str(value), map(str, action.choices)))

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        try:
            return super()._get_value(action, arg_string)
        except argparse.ArgumentError as error:
            problem = error.message
            if action.type in (int, float):
                problem = f"takes a {'whole ' if action.type is int else ''}number, not {arg_string!r}"
            raise ConfigError(f"{self._named(action)} {problem}.") from error

    def _match_argument(self, action: argparse.Action, arg_strings_pattern: str) -> int:
        try:
            return super()._match_argument(action, arg_strings_pattern)
        except argparse.ArgumentError as error:
            named = self._named(action)
            example = f"{named} {action.metavar}" if action.metavar else named
            raise ConfigError(f"{named} needs a value: {example}. {self.see_help}") from error

    def _named(self, action: argparse.Action) -> str:
        """The flag as it is written in full; of commands, the program."""
        return action.option_strings[-1] if action.option_strings else self.prog


def _commands_of(action: argparse.Action) -> list[argparse.ArgumentParser]:
    return list(action.choices.values()) if isinstance(action.choices, dict) else []


def not_among(named: str, value: str, known: Iterable[str]) -> str:
    """A sentence that says what `named` takes, with the value that may have been meant."""
    words = list(known)
    return f"{named} takes {either(words)}, not {value!r}.{did_you_mean(value, words)}"
