"""One file of instructions: what is read of it, and why it may not be read."""

from __future__ import annotations

import errno
import os
import re
from functools import lru_cache
from pathlib import Path
from typing import Final

from msgspec import Struct

from keen_tui.settings.added.front_matter import FrontMatterProblem, parted
from keen_tui.system.safe_read import NoFile, content_of
from keen_tui.text.disguise import without_hidden
from keen_tui.text.units import counted, size

_LARGEST: Final = 1_000_000
"""Bytes of a file that is read at all."""

_COMMA = re.compile(r",(?![^{}]*\})")
"""A comma outside braces."""
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


class FoundFile(Struct, frozen=True, kw_only=True):
    """A file to be read: how the user and the model call it, and the folder that no link in it may leave,
    None for a file of the user's own, which may be a link to anywhere. `paths` are globs for the files that
    it is about, () for all."""

    path: Path
    name: str
    bounds: Path | None
    paths: tuple[str, ...] = ()


class InstructionFile(Struct, frozen=True, kw_only=True):
    """A file that was read: the text that is sent, the bytes of all of it, and remarks for the user."""

    name: str
    text: str
    bytes: int
    remarks: tuple[str, ...] = ()


class Unread(Exception):
    """Why a file is not read."""


def read_file(found: FoundFile) -> InstructionFile:
    """The file, without what nobody would see in it. Blocks, but never waits for a pipe. Raises Unread."""
    text, whole = _text_of(found.path, found.bounds)
    if found.paths:
        text = parted(text).body
    text, hidden = without_hidden(text)
    remarks = [f"without {counted(hidden, 'invisible character')} in it"] if hidden else []
    return InstructionFile(name=found.name, text=text.strip("\n"), bytes=whole, remarks=tuple(remarks))


def paths_of_rule(path: Path, bounds: Path) -> tuple[str, ...]:
    """The field `paths` of a rule's front matter: a list, or one text with commas. () if it has none, or
    can't be read. Blocks; a file that hasn't changed isn't read again."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return _paths_of(path, bounds, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=1_000)
def _paths_of(path: Path, bounds: Path, mtime: int, size: int) -> tuple[str, ...]:
    try:
        front = parted(_text_of(path, bounds)[0])
    except (Unread, FrontMatterProblem):
        return ()
    given = front.lists.get("paths") or _COMMA.split(front.texts.get("paths", ""))
    return tuple(filter(None, map(str.strip, given)))


def cut_to(file: InstructionFile, most: int) -> InstructionFile:
    """The file with as many whole lines as fit into `most` bytes, of a single long line its beginning."""
    text, remarks = _beginning(file.text, most), list(file.remarks)
    if text is not file.text:
        remarks.insert(0, f"of which the first {size(len(text.encode()))} are used")
    if comments := len(_COMMENT.findall(text)):
        remarks.append(f"with {counted(comments, 'HTML comment')}")
    return InstructionFile(name=file.name, text=text, bytes=file.bytes, remarks=tuple(remarks))


def _beginning(text: str, most: int) -> str:
    encoded = text.encode("utf-8")
    if len(encoded) <= most:
        return text
    kept = encoded[:most].decode("utf-8", "ignore")
    lines, line_end, _ = kept.rpartition("\n")
    return lines if line_end else kept


def _text_of(path: Path, bounds: Path | None) -> tuple[str, int]:
    """The text and its bytes. With `bounds` a link may lead to a Markdown file inside them only."""
    real = Path(os.path.realpath(path))
    if bounds and real != path:
        if not real.is_relative_to(bounds):
            raise Unread("it is a link to a place outside the project")
        if real.suffix.lower() != ".md":
            raise Unread("it links to something other than Markdown")
    try:
        content = content_of(real, most=_LARGEST)
    except NoFile as error:
        raise Unread("it isn't a regular file") from error
    except OSError as error:
        too_large = error.errno == errno.EFBIG
        raise Unread(f"it is larger than {size(_LARGEST)}" if too_large else _reason(error)) from error
    if content is None:
        raise Unread("it is a broken link")
    try:
        return content.decode("utf-8-sig"), len(content)
    except UnicodeDecodeError as error:
        raise Unread(f"it isn't UTF-8 text (byte {error.start})") from error


def _reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()
