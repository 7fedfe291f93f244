"""What `keen-tui --help` prints, 80 columns wide. Flags and commands describe themselves."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from keen_tui.settings.line_flags import FlagGroup
from keen_tui.settings.subcommands import (
    DATA_FILES,
    ENVIRONMENT,
    EXAMPLES,
    EXIT_CODES,
    IDS,
    PURPOSE,
    SETTINGS_FILES,
    SUBCOMMANDS,
)
from keen_tui.system.paths import data_folder, home_folder

_WIDTH: Final = 80
_SECOND_COLUMN: Final = 26
_COLUMN_OF_COMMANDS: Final = 38

_INTRODUCTION: Final = f"""\
Keen TUI, {PURPOSE}. Start it in the folder that
you want to work in; press f1 there for help."""


def help_text(groups: Iterable[FlagGroup], environ: Mapping[str, str]) -> str:
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
        for usage, meaning in command.usages:
            yield from row(f"keen-tui {command.name} {usage}".rstrip(), meaning, _COLUMN_OF_COMMANDS)
    yield ""
    yield f"  {IDS}"
    yield ""


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
        yield f"  {_shown(folder)}"
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


def _shown(folder: Path) -> str:
    home = Path.home()
    return f"~/{folder.relative_to(home)}" if folder.is_relative_to(home) else str(folder)
