"""What a tool shows a person, as plain data. How it is drawn is the business of ui/tool_views."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDisplay:
    """Plain text, for example an error result."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDisplay:
    """A part of a file. `text` has no line numbers; `first_line` is the 1-based number of its first line."""

    path: str
    text: str
    first_line: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLine:
    """One row of a diff. `number` is the old number of a removed line, else the new one (1-based)."""

    sign: Literal["+", "-", " "]
    number: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffDisplay:
    """The change of one file: hunks of rows in file order, with `added` and `removed` counted in lines.

    `left_out` is the number of rows that were cut from the end because the diff is too long to show.
    """

    path: str
    hunks: tuple[tuple[DiffLine, ...], ...]
    added: int
    removed: int
    total_lines: int
    left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandDisplay:
    """A shell command with its output (stdout and stderr in order of arrival, cleaned, capped)."""

    command: str
    output: str
    exit_code: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileListDisplay:
    """Paths found, or matching lines; `more` is the number that was left out."""

    lines: tuple[str, ...]
    more: int = 0


Display = TextDisplay | FileDisplay | DiffDisplay | CommandDisplay | FileListDisplay
