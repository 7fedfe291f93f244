"""The places in files that a block names, and which of them may be opened."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from msgspec import Struct

from keen_tui.domain.display import CommandDisplay, DiffDisplay, FileDisplay, FileListDisplay
from keen_tui.domain.own_tools import own_tool
from keen_tui.frontends.tui.state.state import Block, ReasoningBlock, TextBlock, ToolBlock, UserBlock
from keen_tui.frontends.tui.transcript.blocks.block_rows import source

MOST_NAMED: Final = 200
"""Places that are looked at in one block."""

_MENTION: Final = re.compile(
    r"""File\ "(?P<traced>[^"\n]+)",\ line\ (?P<at>\d{1,7})"""
    r"""|(?P<path>[^\s`'"()\[\]{}<>:,;|*]+):(?P<line>\d{1,7})\b""",
    re.VERBOSE,
)
"""`src/cart.py:12`, and what a Python traceback says."""

_HIT: Final = re.compile(r"(.+?):(\d+):")
_LINK: Final = re.compile(r"https?://[^\s<>()\[\]{}\"'`|\\]+")
_NO_END_OF_A_LINK: Final = ".,:;!?*_"


class Named(Struct, frozen=True):
    """A path as a block names it, and a line from 1, 0 where none is named. `by_call`: a tool call acted on
    it or found it; else it is only spoken of."""

    path: str
    line: int = 0
    by_call: bool = False

    def __str__(self) -> str:
        return f"{self.path}:{self.line}" if self.line else self.path


class FoundPlace(Struct, frozen=True):
    """A file that is there, and the line to open it at."""

    file: Path
    named: Named


def named_in(block: Block) -> tuple[Named, ...]:
    """The places that a block names, in order, each once."""
    return tuple(islice(dict.fromkeys(_named(block)), MOST_NAMED))


def links_in(block: Block) -> tuple[str, ...]:
    """The addresses of web pages that the block names, in order, each once."""
    found = (match[0].rstrip(_NO_END_OF_A_LINK) for match in _LINK.finditer(source(block)))
    return tuple(islice(dict.fromkeys(found), MOST_NAMED))


def _named(block: Block) -> Iterator[Named]:
    match block:
        case UserBlock() | TextBlock() | ReasoningBlock():
            yield from _mentioned(block.text)
        case ToolBlock():
            yield from _named_by_call(block)


def _named_by_call(block: ToolBlock) -> Iterator[Named]:
    display = block.display
    match display:
        case FileDisplay():
            yield Named(display.path, display.first_line, by_call=True)
        case DiffDisplay():
            yield Named(display.path, first_change(display), by_call=True)
        case FileListDisplay():
            hits = ((_HIT.match(line), line) for line in display.lines)
            for hit, line in hits:
                yield Named(hit[1], int(hit[2]), by_call=True) if hit else Named(line, by_call=True)
        case CommandDisplay():
            yield from _mentioned(display.output)
        case _ if own_tool(block.name).takes_path and block.target:
            yield Named(block.target, by_call=True)


def first_change(diff: DiffDisplay) -> int:
    """The line of the first row that was added or removed, 0 where there is none."""
    return next((row.number for hunk in diff.hunks for row in hunk if row.sign != " "), 0)


def _mentioned(text: str) -> Iterator[Named]:
    for found in _MENTION.finditer(text):
        path, line = found["traced"] or found["path"], found["at"] or found["line"]
        yield Named(path, int(line))


def found_places(named: Sequence[Named], workspace: Path) -> tuple[FoundPlace, ...]:
    """Those that are files, and in the workspace unless a call named them. Looks at the disk."""
    root = Path(os.path.realpath(workspace))
    found = (_found(each, root) for each in named)
    return tuple(place for place in found if place)


def _found(named: Named, root: Path) -> FoundPlace | None:
    try:
        file = Path(os.path.realpath(root / named.path))
        is_file = stat.S_ISREG(file.stat().st_mode)
    except (OSError, ValueError):
        return None
    is_ours = named.by_call or file.is_relative_to(root)
    return FoundPlace(file, named) if is_file and is_ours else None
