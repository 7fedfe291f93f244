"""The man page, from what the command line declares."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import Final

from keen_tui import __version__
from keen_tui.settings.line_flags import LineFlag, flag_groups
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
from keen_tui.subcommands.mcp_flags import ACTIONS, FLAGS_OF_ADD

_DATE: Final = "2026-11-28"
"""When what the page says changed last."""

_FOLDERS: Final = (
    ("~/.config/keen-tui", "~/Library/Application Support/keen-tui", SETTINGS_FILES),
    ("~/.local/share/keen-tui", "~/Library/Application Support/keen-tui", DATA_FILES),
)
"""The folders without KEEN_HOME, on Linux and on macOS, and what is in them."""


def man_page() -> str:
    """The page in roff, with the macros of man(7)."""
    return "\n".join((*_head(), *_commands(), *_options(), *_rest(), ""))


def _head() -> Iterator[str]:
    yield f'.TH KEEN-TUI 1 "{_DATE}" "keen-tui {__version__}" "User Commands"'
    yield ".SH NAME"
    yield rf"keen-tui \- {PURPOSE}"
    yield ".SH SYNOPSIS"
    yield r".B keen-tui"
    yield r"[\fIOPTION\fR ...]"
    yield ".br"
    yield r".B keen-tui"
    yield r"\fICOMMAND\fR [\fIARGUMENT\fR ...]"
    yield ".SH DESCRIPTION"
    yield "Start it in the folder that you want to work in; press f1 there for help."
    yield ".SH EXAMPLES"
    for typed, meaning in EXAMPLES:
        yield from _entry(typed, meaning)


def _commands() -> Iterator[str]:
    yield ".SH COMMANDS"
    for command in SUBCOMMANDS:
        for usage, meaning in command.usages:
            yield from _entry(f"keen-tui {command.name} {usage}".rstrip(), meaning)
    yield ".PP"
    yield _text(IDS)
    yield ".SS keen-tui mcp"
    for action, meaning in ACTIONS.items():
        yield from _entry(action, meaning)
    yield ".PP"
    yield "With add:"
    for flag in FLAGS_OF_ADD:
        yield from _flag(flag)


def _options() -> Iterator[str]:
    yield ".SH OPTIONS"
    for group in flag_groups():
        yield f".SS {_text(group.title)}"
        for flag in group.flags:
            yield from _flag(flag)


def _rest() -> Iterator[str]:
    yield ".SH ENVIRONMENT"
    for names, meaning in ENVIRONMENT:
        yield from _entry(names, meaning)
    yield ".SH FILES"
    for linux, mac, files in _FOLDERS:
        for name, meaning in files:
            yield from _entry(f"{linux}: {name}", f"{meaning} (macOS: {mac})")
    yield ".SH EXIT STATUS"
    for code, meaning in EXIT_CODES.items():
        yield from _entry(str(code), meaning)


def _flag(flag: LineFlag) -> Iterator[str]:
    return _entry(flag.usage, flag.help)


def _entry(name: str, meaning: str) -> Iterator[str]:
    yield ".TP" if meaning else ".PP"
    yield rf"\fB{_text(name)}\fR"
    if meaning:
        yield _text(meaning)


def _text(text: str) -> str:
    """Text as roff takes it: a hyphen stays one that can be copied, a dot in front is no macro."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-").replace("~", r"\(ti").replace("^", r"\(ha")
    lines = textwrap.wrap(escaped, 76, break_on_hyphens=False, break_long_words=False)
    return "\n".join(re.sub(r"^([.'])", r"\\&\1", line) for line in lines)
