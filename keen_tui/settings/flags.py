"""The command line as it was given: flags, and what goes with what."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, get_args

from keen_tui import __version__
from keen_tui.domain.choices import ExportFormat, Output
from keen_tui.domain.errors import ConfigError
from keen_tui.settings.schema import ABOUT, CHOICES, DEFAULTS, Flag

SUBJECTS = {
    "sessions": "nothing behind it",
    "settings": "nothing behind it",
    "export": "one session id",
    "replay": "one file",
}
"""The commands, and what stands behind them."""


class _Parser(argparse.ArgumentParser):
    """Raises what is wrong instead of printing it: the screen may have to be given back first."""

    def format_help(self) -> str:
        """Written for people: what one types first, then all flags by what they are about."""
        from keen_tui.settings.help_text import help_text  # noqa: PLC0415 - only where it is asked for

        return help_text(self._action_groups, os.environ)

    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{message}. See keen-tui --help.")


def parsed(argv: Sequence[str]) -> Mapping[str, Any]:
    """What was given, by name: only that, and always `words`, the command and what stands behind it.

    Raises:
        ConfigError: an unknown flag or command, a wrong value, flags that don't go together.
    """
    given = vars(parser().parse_args(argv))
    command = command_of(given)
    if command and command not in SUBJECTS:
        raise ConfigError(
            f"There is no command {command!r}: {', '.join(SUBJECTS)} are. A prompt goes behind -p."
        )
    _require_sense(command, given)
    return given


def command_of(given: Mapping[str, Any]) -> str:
    """The command, "" for none."""
    return given["words"][0] if given["words"] else ""


def settings_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings among what was given."""
    names = (flag.dest or name for name, about in ABOUT.items() for flag in about.flags)
    return {name: given[name] for name in names if name in given}


def parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="keen-tui",
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
        add_help=False,
    )
    parser.add_argument("words", nargs="*", default=[], help=argparse.SUPPRESS)
    _add_settings(parser)
    _add_saved(parser)
    _add_one_turn(parser)
    _add_others(parser)
    return parser


def _add_one_turn(parser: argparse.ArgumentParser) -> None:
    one = parser.add_argument_group("One turn without a screen")
    one.add_argument(
        "-p",
        "--prompt",
        nargs="?",
        const="-",
        metavar="TEXT",
        help="the prompt; data on standard input is added to it, and without TEXT it is the prompt",
    )
    one.add_argument(
        "--output",
        choices=get_args(Output),
        metavar="FORM",
        help="text (default), json, or stream-json: one event a line",
    )


def _add_saved(parser: argparse.ArgumentParser) -> None:
    saved = parser.add_argument_group("Saved sessions")
    saved.add_argument(
        "-c",
        "--continue",
        action="store_true",
        dest="go_on",
        help="continue the newest session of this folder",
    )
    saved.add_argument(
        "-r", "--resume", metavar="ID", help="continue that session; the beginning of its id is enough"
    )
    saved.add_argument("--fork", action="store_true", help="with --continue or --resume: continue in a copy")
    saved.add_argument("--all", action="store_true", help="with sessions: those of all folders")
    saved.add_argument(
        "--format",
        choices=get_args(ExportFormat),
        metavar="FORM",
        help="of an export: markdown (default), json or html",
    )
    saved.add_argument("-o", "--out", metavar="FILE", help="where an export is written")
    saved.add_argument(
        "--speed",
        type=float,
        metavar="N",
        help="of a replay: 1 for the original speed (default), 0 for all at once",
    )


def _add_settings(parser: argparse.ArgumentParser) -> None:
    """The flags of settings, in the order in which those are declared."""
    model, work = parser.add_argument_group("Model"), parser.add_argument_group("Work")
    for name, about in ABOUT.items():
        for flag in about.flags:
            group = model if about.group == "Model" else work
            group.add_argument(flag.name, **_options(name, flag))


def _options(name: str, flag: Flag) -> dict[str, Any]:
    """What argparse wants to know of a setting's flag."""
    options: dict[str, Any] = {"dest": flag.dest or name, "help": flag.help}
    if flag.switch is not None:
        return options | {"action": "store_const", "const": flag.switch}
    if flag.has_opposite:
        return options | {"action": argparse.BooleanOptionalAction}
    options["metavar"] = flag.metavar
    if flag.repeats:
        return options | {"action": "append"}
    if choices := tuple(filter(None, CHOICES.get(name, ()))):
        options["choices"] = choices
    return options | ({"type": int} if isinstance(getattr(DEFAULTS, name), int) else {})


def _add_others(parser: argparse.ArgumentParser) -> None:
    others = parser.add_argument_group("Others")
    others.add_argument("--demo", action="store_true", help="play the guided tour in a scratch project")
    others.add_argument(
        "--pace", type=float, metavar="N", help="of the tour: 1 as is, 2 twice as fast, 0 at once"
    )
    others.add_argument(
        "--version", action="version", version=f"keen-tui {__version__}", help="the version of this program"
    )
    others.add_argument("-h", "--help", action="help", help="this text")


BELONGS: Mapping[str, str] = {
    "all": "sessions",
    "format": "export",
    "out": "export",
    "speed": "replay",
}
"""Flags that only one command takes."""

_WRITTEN: Mapping[str, str] = {
    "prompt": "-p",
    "demo": "--demo",
    "resume": "--resume",
    "go_on": "--continue",
    "fork": "--fork",
    "pace": "--pace",
    "output": "--output",
}
"""Flags that no command takes, as they are written."""

_APART = (("demo", "prompt"), ("demo", "resume"), ("demo", "go_on"), ("resume", "go_on"))
"""Flags that each say what to begin with: two of them can't both be meant."""

_NEEDS: Mapping[str, tuple[str, ...]] = {
    "fork": ("go_on", "resume"),
    "pace": ("demo",),
    "output": ("prompt",),
}
"""Flags that say more about another one."""


def _require_sense(command: str, given: Mapping[str, Any]) -> None:
    """Raises ConfigError for flags that don't go together."""
    if command and len(given["words"]) - 1 != (command not in ("sessions", "settings")):
        raise ConfigError(f"keen-tui {command} takes {SUBJECTS[command]}.")
    for flag, owner in BELONGS.items():
        if flag in given and command != owner:
            raise ConfigError(f"--{flag} belongs to the command {owner}. See keen-tui --help.")
    for flag, written in _WRITTEN.items():
        if command and flag in given:
            raise ConfigError(f"{written} does not go with the command {command}. See keen-tui --help.")
    for one, other in _APART:
        if one in given and other in given:
            raise ConfigError(f"{_WRITTEN[one]} and {_WRITTEN[other]} don't go together: choose one.")
    for flag, owners in _NEEDS.items():
        if flag in given and not given.keys() & set(owners):
            whose = " or ".join(_WRITTEN[each] for each in owners)
            raise ConfigError(f"{_WRITTEN[flag]} belongs to {whose}. See keen-tui --help.")
    _require_hosts(given.get("allow_net", ()))
    for flag in ("pace", "speed"):
        if not 0 <= given.get(flag, 1.0) < math.inf:
            raise ConfigError(f"--{flag} must be a number from 0 up.")


def _require_hosts(written: Sequence[str]) -> None:
    """Raises ConfigError for what names no host."""
    if not written:
        return
    from keen_tui.text.hosts import host_pattern  # noqa: PLC0415 - only where one is named

    for text in written:
        try:
            host_pattern(text)
        except ValueError as error:
            raise ConfigError(f"--allow-net {text}: {error}.") from error
