"""Imports: `@docs/style.md` in a file of instructions names another file to be read with it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from keen_tui.agent.instructions.instruction_file import FoundFile, Unread
from keen_tui.tools.access.sensitive import holds_secrets

DEEPEST: Final = 4
"""How many imports may lead from one file to the next."""

_FENCE = re.compile(r"^ {0,3}(```+|~~~+).*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
_IMPORT = re.compile(r"(?<!\S)@((?:\\ |[^\s\\])+)")
_ENDS_SENTENCE: Final = ".,;:!?)]}'\""
_TEXT: Final = frozenset([".md", ".mdc", ".txt", ".rst"])
"""A name with such an end is meant as a file, so it is said when there is none."""


def imports_of(text: str) -> Iterator[str]:
    """The paths that a text imports, as they are written, each once. Code is left alone."""
    prose = _CODE.sub(" ", _FENCE.sub("\n", text))
    found = (each.replace("\\ ", " ").rstrip(_ENDS_SENTENCE) for each in _IMPORT.findall(prose))
    yield from dict.fromkeys(filter(None, found))


def imported(written: str, importer: FoundFile, workspace: Path) -> FoundFile | None:
    """The file that an import of another file names; None where the words name no file, such as "@alice".

    Only files of the importer's project count: of the user's own file, those in its folder.

    Raises Unread: it is not there, it is outside, or it may hold secrets.
    """
    folder = importer.path.parent
    path = Path(os.path.normpath(folder / written))
    bounds = importer.bounds or folder
    if not os.path.lexists(path):
        if path.suffix.lower() in _TEXT:
            raise Unread(f"{importer.name} imports it, but it isn't there")
        return None
    if path.is_dir():
        return None
    real = Path(os.path.realpath(path))
    if not (path.is_relative_to(bounds) and real.is_relative_to(os.path.realpath(bounds))):
        raise Unread("only files of the project are imported")
    if holds_secrets(path.as_posix()) or holds_secrets(real.as_posix()):
        raise Unread("it may hold secrets")
    name = Path(os.path.relpath(path, workspace)).as_posix() if importer.bounds else f"your own {written}"
    return FoundFile(path=path, name=name, bounds=importer.bounds)
