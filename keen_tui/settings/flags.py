"""The command line as it was given: flags, and what goes with what."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from keen_tui.domain.choices import Output, ReviewOutput
from keen_tui.domain.errors import ConfigError
from keen_tui.settings.line_flags import MOST_DAYS, LineFlag, flag_groups
from keen_tui.settings.line_parser import LineParser, not_among
from keen_tui.settings.schema import ABOUT, HOST_FLAGS
from keen_tui.settings.subcommands import SUBJECTS
from keen_tui.text.nearest import did_you_mean


def parsed(argv: Sequence[str]) -> Mapping[str, Any]:
    """Returns the given flags and values by name, and always `words`, the command with its arguments.

    Raises:
        ConfigError: an unknown flag or command, a wrong value, flags that don't go together.
        SystemExit: help or the version was asked for, and is printed.
    """
    if argv[:1] == ["help"]:
        argv = ["--help", *argv[1:]]
    if argv[:1] == ["mcp"]:
        return {"words": list(argv)}  # it has flags of its own: subcommands/mcp_flags.py
    reader = parser()
    read, unknown = reader.parse_known_intermixed_args(argv)
    given = vars(read)
    command = command_of(given)
    if unknown and "help" not in given:
        reader.refuse(unknown)
    if command and command not in SUBJECTS:
        meant = (
            did_you_mean(command, (*SUBJECTS, *reader.flags())) or f" The commands are {', '.join(SUBJECTS)}."
        )
        raise ConfigError(f"There is no command {command!r}.{meant} To send a prompt, use -p.")
    if "help" in given:
        topic = given["help"] or command
        if topic == "mcp":
            return {"words": ["mcp", "--help"]}
        reader.show(_help(topic))
    _require_sense(command, given)
    if "input" in given:  # messages come on standard input, so it is no prompt
        given["prompt"] = "" if given.get("prompt", "-") == "-" else given["prompt"]
    return given


def _help(topic: str) -> str:
    """The help on a command, on "all", or, if it is "", on what people type most."""
    from keen_tui.settings import help_text  # noqa: PLC0415 - only where it is asked for

    if topic == "all":
        return help_text.full_help(flag_groups(), os.environ)
    return help_text.command_help(topic, flags_of(topic)) if topic else help_text.brief_help(flag_groups())


def command_of(given: Mapping[str, Any]) -> str:
    """The command, "" for none."""
    return given["words"][0] if given["words"] else ""


def settings_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings among what was given."""
    names = (flag.dest or name for name, about in ABOUT.items() for flag in about.flags)
    return {name: given[name] for name in names if name in given}


def flags_of(command: str) -> list[LineFlag]:
    """The flags that this command takes, apart from those of settings; as they are offered there."""
    return [
        offered(flag, command)
        for group in flag_groups()
        for flag in group.flags
        if command in BELONGS.get(flag.dest, ()) or (command, flag.dest) in _TAKEN_TOO
    ]


def offered(flag: LineFlag, command: str = "") -> LineFlag:
    """The flag with the values that this command takes, "" for none."""
    return flag._replace(options={"choices": _forms(command)}) if flag.dest == "output" else flag


def _forms(command: str) -> tuple[str, ...]:
    """The values of --output."""
    return get_args(ReviewOutput if command == "review" else Output)


def parser() -> LineParser:
    parser = LineParser(
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
    "base": ("review",),
    "commit": ("review",),
    "uncommitted": ("review",),
    "fail_on": ("review",),
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
    "input": "--input",
    "worktree": "--worktree",
    "init": "--init",
    "until": "--until",
    "max_turns": "--max-turns",
    "max_hours": "--max-hours",
}
"""Flags that no command takes, as they are written."""

_TAKEN_TOO = frozenset(
    (
        *(("serve", flag) for flag in ("demo", "pace", "resume", "go_on", "fork", "worktree", "init")),
        ("review", "output"),
        ("eval", "max_cost"),
    )
)
"""Commands and flags among those that they take all the same."""

_APART = (
    ("demo", "prompt"),
    ("demo", "resume"),
    ("demo", "go_on"),
    ("demo", "worktree"),
    ("demo", "init"),
    ("resume", "go_on"),
    ("input", "until"),
    ("input", "demo"),
)
"""Flags that each say what to begin with: two of them can't both be meant."""

_NEEDS: Mapping[str, tuple[str, ...]] = {
    "fork": ("go_on", "resume"),
    "pace": ("demo",),
    "output": ("prompt", "input"),
    "input": ("output",),
    "until": ("prompt",),
    "max_turns": ("until",),
    "max_hours": ("until",),
}
"""Flags that say more about another one."""


def _require_sense(command: str, given: Mapping[str, Any]) -> None:
    """Raises ConfigError for flags that don't go together."""
    if command == "mcp":
        raise ConfigError("mcp comes first: keen-tui mcp list. See keen-tui mcp --help.")
    if command not in ("", "eval", "review", "worktrees") and len(given["words"]) - 1 != (
        SUBJECTS[command] != "no arguments"
    ):
        raise ConfigError(f"{command} takes {SUBJECTS[command]}.")
    for flag, owners in BELONGS.items():
        if flag in given and command not in owners:
            written = flag.replace("_", "-")
            raise ConfigError(
                f"--{written} only works with {' or '.join(owners)}. See keen-tui {owners[0]} --help."
            )
    for flag, written in _WRITTEN.items():
        if command and flag in given and (command, flag) not in _TAKEN_TOO:
            raise ConfigError(f"{written} doesn't work with {command}. See keen-tui {command} --help.")
    for one, other in _APART:
        if one in given and other in given:
            raise ConfigError(f"{_WRITTEN[one]} and {_WRITTEN[other]} don't go together: choose one.")
    if given.get("worktree") == "" and "go_on" in given:
        raise ConfigError(
            "--continue needs the name of the work tree: --worktree NAME. keen-tui worktrees lists them."
        )
    for flag, owners in _NEEDS.items():
        if flag in given and command != "review" and not given.keys() & set(owners):
            whose = " or ".join(_WRITTEN[each] for each in owners)
            raise ConfigError(f"{_WRITTEN[flag]} only works with {whose}. See keen-tui --help all.")
    if "input" in given and given["output"] != "stream-json":
        raise ConfigError("--input stream-json needs --output stream-json.")
    if "max_cost" in given and (command, "max_cost") not in _TAKEN_TOO and "until" not in given:
        raise ConfigError("--max-cost only works with --until or eval. See keen-tui --help all.")
    _require_limits(command, given)
    if given.get("output", "text") not in _forms(command):
        raise ConfigError(not_among(f"--output with {command or '-p'}", given["output"], _forms(command)))
    for flag in HOST_FLAGS:
        _require_hosts(flag, given.get(flag, ()))
    if not 1 <= given.get("days", 1) <= MOST_DAYS:
        raise ConfigError(f"--days must be a number from 1 to {MOST_DAYS:,}.")
    for flag in ("pace", "speed"):
        if not 0 <= given.get(flag, 1.0) < math.inf:
            raise ConfigError(f"--{flag} must be 0 or more.")


def _require_limits(command: str, given: Mapping[str, Any]) -> None:
    """Raises ConfigError for a run that couldn't begin."""
    if "until" in given and not given["until"].strip():
        raise ConfigError("--until needs the command that must succeed, for example: --until 'make test'.")
    if given.get("max_turns", 1) < 1:
        raise ConfigError("--max-turns must be 1 or more.")
    for flag in ("max_hours", *(("max_cost",) if command != "eval" else ())):
        if not 0 < given.get(flag, 1.0) < math.inf:
            raise ConfigError(f"--{flag.replace('_', '-')} must be more than 0.")


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
