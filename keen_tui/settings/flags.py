"""The command line as it was given: flags, and what goes with what."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn, get_args

from keen_tui import __version__
from keen_tui.domain.choices import MOST_TURNS, ExportFormat, Output
from keen_tui.domain.errors import ConfigError
from keen_tui.settings.about import Completes, Flag
from keen_tui.settings.schema import ABOUT, CHOICES, DEFAULTS, HOST_FLAGS
from keen_tui.settings.subcommands import SUBJECTS


class LineFlag(NamedTuple):
    """A flag of the command line. `metavar` is the word for its value in the help, "" where it takes none;
    `options` is what else argparse wants to know, `completes` the kind of its value. `is_setting`: it
    says otherwise than the settings."""

    names: tuple[str, ...]
    help: str
    metavar: str = ""
    options: Mapping[str, Any] = {}
    completes: Completes = ""
    is_setting: bool = False

    @property
    def usage(self) -> str:
        """How it is typed: `-p, --prompt [TEXT]`."""
        has_opposite = self.options.get("action") is argparse.BooleanOptionalAction
        opposite = (self.names[-1].replace("--", "--no-", 1),) if has_opposite else ()
        value = f"[{self.metavar}]" if self.options.get("nargs") == "?" else self.metavar
        return f"{', '.join((*self.names, *opposite))} {value}".rstrip()


class FlagGroup(NamedTuple):
    """Flags that stand together in the help."""

    title: str
    flags: Sequence[LineFlag]


class _Parser(argparse.ArgumentParser):
    """Raises what is wrong instead of printing it: the screen may have to be given back first."""

    def format_help(self) -> str:
        """Written for people: what one types first, then all flags by what they are about."""
        from keen_tui.settings.help_text import help_text  # noqa: PLC0415 - only where it is asked for

        return help_text(flag_groups(), os.environ)

    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{message}. See keen-tui --help.")


def parsed(argv: Sequence[str]) -> Mapping[str, Any]:
    """What was given, by name: only that, and always `words`, the command and what stands behind it.

    Raises:
        ConfigError: an unknown flag or command, a wrong value, flags that don't go together.
    """
    if argv[:1] == ["mcp"]:
        return {"words": list(argv)}  # it has flags of its own: subcommands/mcp_flags.py
    given = vars(parser().parse_args(argv))
    command = command_of(given)
    if command and command not in SUBJECTS:
        raise ConfigError(
            f"Unknown command {command!r}. The commands are {', '.join(SUBJECTS)}. A prompt goes after -p."
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
    for group in flag_groups():
        named = parser.add_argument_group(group.title)
        for flag in group.flags:
            add_flag(named, flag)
    return parser


def add_flag(parser: argparse._ActionsContainer, flag: LineFlag) -> argparse.Action:
    """Make a parser, or a group of its flags, take that one."""
    value = {"metavar": flag.metavar} if flag.metavar else {}
    return parser.add_argument(*flag.names, **{"help": flag.help, **value, **flag.options})


def flag_groups() -> tuple[FlagGroup, ...]:
    """All flags, in the order in which the help has them."""
    return (
        FlagGroup("Model", _of_settings(lambda group: group == "Model")),
        FlagGroup("Work", (*_of_settings(lambda group: group != "Model"), *_WORK)),
        FlagGroup("Saved sessions", _SAVED),
        FlagGroup("One turn without a screen", _ONE_TURN),
        FlagGroup("Evaluation", _EVALUATION),
        FlagGroup("In a browser", _SERVE),
        FlagGroup("Others", _OTHERS),
    )


def _of_settings(is_wanted: Callable[[str], bool]) -> Sequence[LineFlag]:
    """The flags of settings, in the order in which those are declared."""
    return [
        LineFlag((flag.name,), flag.help, flag.metavar or "", _options(name, flag), flag.completes, True)
        for name, about in ABOUT.items()
        if is_wanted(about.group)
        for flag in about.flags
    ]


def _options(name: str, flag: Flag) -> dict[str, Any]:
    """What argparse wants to know of a setting's flag."""
    options: dict[str, Any] = {"dest": flag.dest or name}
    if flag.switch is not None:
        return options | {"action": "store_const", "const": flag.switch}
    if flag.has_opposite:
        return options | {"action": argparse.BooleanOptionalAction}
    if flag.repeats:
        return options | {"action": "append"}
    if choices := tuple(filter(None, CHOICES.get(name, ()))):
        options["choices"] = choices
    return options | ({"type": int} if isinstance(getattr(DEFAULTS, name), int) else {})


_SWITCH: Mapping[str, Any] = {"action": "store_true"}

_WORK = (
    LineFlag(
        ("--worktree",),
        "work in a git work tree of Keen's, on the branch keen/NAME: a new one, or the one that has NAME",
        "NAME",
        {"nargs": "?", "const": ""},
        "worktrees",
    ),
)

_SAVED = (
    LineFlag(
        ("-c", "--continue"),
        "continue the newest session of this folder",
        options={**_SWITCH, "dest": "go_on"},
    ),
    LineFlag(
        ("-r", "--resume"),
        "continue that session; the beginning of its id is enough",
        "ID",
        completes="sessions",
    ),
    LineFlag(("--fork",), "with --continue or --resume: continue in a copy", options=_SWITCH),
    LineFlag(("--all",), "with sessions or worktrees: list those of all folders", options=_SWITCH),
    LineFlag(
        ("--days",),
        "with usage: how many days, today included (default 30)",
        "N",
        {"type": int},
    ),
    LineFlag(("--json",), "with usage or eval: print JSON", options=_SWITCH),
    LineFlag(
        ("--format",),
        "with export: markdown (default), json or html",
        "FORM",
        {"choices": get_args(ExportFormat)},
    ),
    LineFlag(("-o", "--out"), "with export: the file to write", "FILE", completes="file"),
    LineFlag(
        ("--speed",),
        "with replay: 1 for the original speed (default), 0 for all at once",
        "N",
        {"type": float},
    ),
)

_ONE_TURN = (
    LineFlag(
        ("-p", "--prompt"),
        "the prompt; data on standard input is added to it, and without TEXT it is the prompt",
        "TEXT",
        {"nargs": "?", "const": "-"},
    ),
    LineFlag(
        ("--output",),
        "text (default), json, or stream-json: one event a line",
        "FORM",
        {"choices": get_args(Output)},
    ),
    LineFlag(
        ("--until",),
        "a run: the next turn begins until this command ends with exit code 0; with --continue the run that "
        "was broken off goes on",
        "CMD",
        completes="commands",
    ),
    LineFlag(("--max-turns",), f"with --until: this many turns (default {MOST_TURNS})", "N", {"type": int}),
    LineFlag(("--max-hours",), "with --until: this many hours, waits included", "H", {"type": float}),
    LineFlag(("--max-cost",), "with --until or eval: end at this cost in US dollars", "USD", {"type": float}),
)

_EVALUATION = (
    LineFlag(
        ("--policies",),
        "with eval: memory policies to compare (default: summary,full-trace); there is in-band, too",
        "LIST",
    ),
    LineFlag(("--repeat",), "with eval: how often each task runs (default 1)", "N", {"type": int}),
    LineFlag(("--keep",), "with eval: keep the folders of the runs", options=_SWITCH),
)

_SERVE = (
    LineFlag(("--port",), "with serve: the port (default: a free one)", "N", {"type": int}),
    LineFlag(
        ("--address",),
        "with serve: the address to listen at (default: 127.0.0.1, which other machines can't reach)",
        "ADDRESS",
    ),
    LineFlag(("--clients",), "with serve: how many pages at once (default 4)", "N", {"type": int}),
    LineFlag(
        ("--idle-minutes",),
        "with serve: minutes without use after which a page's program is saved and ended (default 60)",
        "N",
        {"type": float},
    ),
)

_OTHERS = (
    LineFlag(("--demo",), "play the guided tour in a scratch project", options=_SWITCH),
    LineFlag(
        ("--pace",),
        "with --demo: 1 for the usual speed, 2 for twice as fast, 0 for all at once",
        "N",
        {"type": float},
    ),
    LineFlag(
        ("--version",),
        "show the version",
        options={"action": "version", "version": f"keen-tui {__version__}"},
    ),
    LineFlag(("-h", "--help"), "show this help", options={"action": "help"}),
)


MOST_DAYS = 36_500
"""The most days that usage can be asked for."""

BELONGS: Mapping[str, tuple[str, ...]] = {
    "all": ("sessions", "worktrees"),
    "days": ("usage",),
    "json": ("usage", "eval"),
    "format": ("export",),
    "out": ("export",),
    "speed": ("replay",),
    "policies": ("eval",),
    "repeat": ("eval",),
    "keep": ("eval",),
    "port": ("serve",),
    "address": ("serve",),
    "clients": ("serve",),
    "idle_minutes": ("serve",),
}
"""Flags that only these commands take."""

_WRITTEN: Mapping[str, str] = {
    "prompt": "-p",
    "demo": "--demo",
    "resume": "--resume",
    "go_on": "--continue",
    "fork": "--fork",
    "pace": "--pace",
    "output": "--output",
    "worktree": "--worktree",
    "until": "--until",
    "max_turns": "--max-turns",
    "max_hours": "--max-hours",
}
"""Flags that no command takes, as they are written."""

_APART = (
    ("demo", "prompt"),
    ("demo", "resume"),
    ("demo", "go_on"),
    ("demo", "worktree"),
    ("resume", "go_on"),
)
"""Flags that each say what to begin with: two of them can't both be meant."""

_NEEDS: Mapping[str, tuple[str, ...]] = {
    "fork": ("go_on", "resume"),
    "pace": ("demo",),
    "output": ("prompt",),
    "until": ("prompt",),
    "max_turns": ("until",),
    "max_hours": ("until",),
}
"""Flags that say more about another one."""


def _require_sense(command: str, given: Mapping[str, Any]) -> None:
    """Raises ConfigError for flags that don't go together."""
    if command == "mcp":
        raise ConfigError("mcp comes first: keen-tui mcp list. See keen-tui mcp --help.")
    if command not in ("", "eval", "worktrees") and len(given["words"]) - 1 != (
        SUBJECTS[command] != "no arguments"
    ):
        raise ConfigError(f"keen-tui {command} takes {SUBJECTS[command]}.")
    for flag, owners in BELONGS.items():
        if flag in given and command not in owners:
            written = flag.replace("_", "-")
            raise ConfigError(
                f"--{written} belongs to the command {' or '.join(owners)}. See keen-tui --help."
            )
    for flag, written in _WRITTEN.items():
        if command and flag in given and not (command == "serve" and flag in ("demo", "pace")):
            raise ConfigError(f"{written} doesn't go with the command {command}. See keen-tui --help.")
    for one, other in _APART:
        if one in given and other in given:
            raise ConfigError(f"{_WRITTEN[one]} and {_WRITTEN[other]} don't go together: choose one.")
    if given.get("worktree") == "" and "go_on" in given:
        raise ConfigError(
            "--continue needs the name of the work tree: --worktree NAME. keen-tui worktrees lists them."
        )
    for flag, owners in _NEEDS.items():
        if flag in given and not given.keys() & set(owners):
            whose = " or ".join(_WRITTEN[each] for each in owners)
            raise ConfigError(f"{_WRITTEN[flag]} belongs to {whose}. See keen-tui --help.")
    if "max_cost" in given and command != "eval" and "until" not in given:
        raise ConfigError("--max-cost belongs to --until or to the command eval. See keen-tui --help.")
    _require_limits(command, given)
    for flag in HOST_FLAGS:
        _require_hosts(flag, given.get(flag, ()))
    if not 1 <= given.get("days", 1) <= MOST_DAYS:
        raise ConfigError(f"--days must be a number from 1 to {MOST_DAYS:,}.")
    for flag in ("pace", "speed"):
        if not 0 <= given.get(flag, 1.0) < math.inf:
            raise ConfigError(f"--{flag} must be a number from 0 up.")


def _require_limits(command: str, given: Mapping[str, Any]) -> None:
    """Raises ConfigError for a run that couldn't begin."""
    if "until" in given and not given["until"].strip():
        raise ConfigError("--until needs the command that has to succeed, for example: --until 'make test'.")
    if given.get("max_turns", 1) < 1:
        raise ConfigError("--max-turns must be a number from 1 up.")
    for flag in ("max_hours", *(("max_cost",) if command != "eval" else ())):
        if not 0 < given.get(flag, 1.0) < math.inf:
            raise ConfigError(f"--{flag.replace('_', '-')} must be a number above 0.")


def _require_hosts(flag: str, written: Sequence[str]) -> None:
    """Raises ConfigError for what names no host."""
    if not written:
        return
    from keen_tui.text.hosts import host_pattern  # noqa: PLC0415 - only where one is named

    for text in written:
        try:
            host_pattern(text)
        except ValueError as error:
            raise ConfigError(f"--{flag.replace('_', '-')} {text}: {error}.") from error
