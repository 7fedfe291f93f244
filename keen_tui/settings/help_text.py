"""The texts of `--help`, `--help all` and `COMMAND --help`, 80 columns wide. Flags and commands describe
themselves."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Final

from keen_tui.settings.line_flags import FlagGroup, LineFlag
from keen_tui.settings.subcommands import (
    DATA_FILES,
    ENVIRONMENT,
    EXAMPLES,
    EXIT_CODES,
    IDS,
    PURPOSE,
    SETTINGS_FILES,
    SUBCOMMANDS,
    Subcommand,
)
from keen_tui.system.paths import data_folder, home_folder, home_relative

_WIDTH: Final = 80
_SECOND_COLUMN: Final = 26
_COLUMN_OF_COMMANDS: Final = 38
_COLUMN_OF_COMMON_FLAGS: Final = 23

_INTRODUCTION: Final = f"""\
Keen TUI, {PURPOSE}. Start it in the folder that
you want to work in; press f1 there for help."""

_COMMON_FLAGS: Final[Mapping[str, str]] = {
    "--continue": "",
    "--resume": "",
    "--prompt": "one turn without a screen; piped data is added to it",
    "--model": "",
    "--mode": "what runs without asking: ask, auto-edit, plan or auto",
}
"""The flags that people type most, each with a shorter meaning if its own takes more than a line."""


def brief_help(groups: Iterable[FlagGroup]) -> str:
    """Returns the commands and flags that people type most, on one screen: at most 23 lines, which leaves one
    for the prompt."""
    flags = {flag.names[-1]: flag for group in groups for flag in group.flags}
    lines = [
        f"Keen TUI, {PURPOSE}.",
        "Usage: keen-tui [FLAG ...], or keen-tui COMMAND ...",
        *(line for example in EXAMPLES[:3] for line in row(*example, _COLUMN_OF_COMMANDS)),
        "",
        "Commands",
        *_in_two_columns([f"  {command.name:12}{command.brief}" for command in SUBCOMMANDS]),
        "",
        "Flags",
        *(
            line
            for name, brief in _COMMON_FLAGS.items()
            for line in row(flags[name].usage, brief or flags[name].help, _COLUMN_OF_COMMON_FLAGS)
        ),
        "",
        "keen-tui --help all shows everything; keen-tui COMMAND --help one command.",
    ]
    return "\n".join((*lines, ""))


def command_help(name: str, flags: Iterable[LineFlag]) -> str:
    """How to use a command that takes these flags, and perhaps those of settings."""
    command = next(each for each in SUBCOMMANDS if each.name == name)
    return "\n".join((*_usages(command), *_own_flags(command, flags), ""))


def _own_flags(command: Subcommand, flags: Iterable[LineFlag]) -> Iterator[str]:
    for number, flag in enumerate(flags):
        if not number:
            yield ""
        special = re.search(rf"(?:^|; )with [^:]*\b{command.name}\b[^:]*: (.+)", flag.help)
        yield from row(flag.usage, special[1] if special else flag.help)
    if command.completes == "sessions":
        yield ""
        yield IDS
    if command.has_settings:
        yield ""
        yield "It also takes the flags under Model and Work in keen-tui --help all."


def _in_two_columns(texts: Sequence[str]) -> Iterator[str]:
    """The texts in two columns, to be read from the top down."""
    half = (len(texts) + 1) // 2
    for left, right in zip_longest(texts[:half], texts[half:], fillvalue=""):
        yield f"{left:{_WIDTH // 2}}{right}".rstrip()


def full_help(groups: Iterable[FlagGroup], environ: Mapping[str, str]) -> str:
    """The whole help: what one types first, the flags of these groups, then all else that one looks up."""
    return "\n".join((*_beginning(), *_flags(groups), *_end(environ), ""))


def _beginning() -> Iterator[str]:
    yield _INTRODUCTION
    yield ""
    for typed, meaning in EXAMPLES:
        yield from row(typed, meaning, _COLUMN_OF_COMMANDS)
    yield ""
    yield "Commands"
    for command in SUBCOMMANDS:
        yield from _usages(command)
    yield ""
    yield f"  {IDS}"
    yield ""


def _usages(command: Subcommand) -> Iterator[str]:
    for usage, meaning in command.usages:
        yield from row(f"keen-tui {command.name} {usage}".rstrip(), meaning, _COLUMN_OF_COMMANDS)


def _flags(groups: Iterable[FlagGroup]) -> Iterator[str]:
    for group in groups:
        yield group.title
        for flag in group.flags:
            yield from row(flag.usage, flag.help)
        yield ""


def _end(environ: Mapping[str, str]) -> Iterator[str]:
    yield "Environment"
    for names, meaning in ENVIRONMENT:
        yield from row(names, meaning)
    yield ""
    yield "Exit codes"
    yield from _side_by_side(f"{code} {meaning}" for code, meaning in EXIT_CODES.items())
    yield ""
    yield "Files"
    for folder, files in ((home_folder(environ), SETTINGS_FILES), (data_folder(environ), DATA_FILES)):
        yield f"  {home_relative(folder)}"
        for name, meaning in files:
            yield from row(f"  {name}", meaning)


def row(name: str, meaning: str, column: int = _SECOND_COLUMN) -> Iterator[str]:
    """The lines of a name and its meaning, which begins at that column, or below a name that is too long."""
    beginning = f"  {name}"
    if not meaning or len(beginning) > column - 2:
        yield beginning
        beginning = ""
    for line in textwrap.wrap(meaning, _WIDTH - column, break_on_hyphens=False):
        yield f"{beginning:{column}}{line}"
        beginning = ""


def _side_by_side(texts: Iterable[str]) -> Iterator[str]:
    """Short texts, as many in a line as fit."""
    line = ""
    for text in texts:
        if line and len(line) + 3 + len(text) > _WIDTH:
            yield line
            line = ""
        line = f"{line}   {text}" if line else f"  {text}"
    yield line
