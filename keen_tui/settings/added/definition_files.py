"""Markdown files in which people define something: commands, skills, sub-agents. How they are found and
read."""

from __future__ import annotations

import errno
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from keen_tui.settings.added.brought import first_names
from keen_tui.system.safe_read import NoFile, content_of
from keen_tui.text.disguise import without_hidden
from keen_tui.text.units import size

MOST_FILES: Final = 500
"""Files that are read in one folder."""
LONGEST_NAME: Final = 64
"""Characters of a name in the usual form."""
LONGEST_DESCRIPTION: Final = 1_024
"""Characters of a description; the format of skills allows no more, and more is never sent."""
_ABOUT_THE_FOLDER: Final = ("readme.md", "agents.md", "claude.md")
"""Files that say something about the folder and define nothing."""
SAME_NAME: Final = "another one has the same name"
"""Why a thing isn't used; the other one is the detail."""


class UnusableFile(Exception):
    """Why a file can't be used, as the end of a sentence that begins with the file."""


class Unused:
    """Collects things of one kind that can't be used. Those with the same folder and reason are named in one
    sentence."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._found: dict[tuple[str, str], list[tuple[str, str]]] = {}

    def add(self, place: str, name: str, why: str, detail: str = "") -> None:
        """`why` is the end of a sentence; `detail` follows it, and is of this one alone."""
        self._found.setdefault((place, why), []).append((name, detail))

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(self._sentence(place, why, each) for (place, why), each in self._found.items())

    def _sentence(self, place: str, why: str, found: Sequence[tuple[str, str]]) -> str:
        if len(found) == 1:
            name, detail = found[0]
            return f"The {self._kind} in {place}/{name} isn't used: {', '.join(filter(None, (why, detail)))}."
        names = first_names([f"{name} ({detail})" if detail else name for name, detail in found])
        return f"{len(found):,} {self._kind}s in {place} aren't used ({names}). The reason for each: {why}."


def markdown_files(folder: Path, depth: int, *, follows: bool) -> Iterator[Path]:
    """Files that end in .md, in the order of their names, those of sub-folders behind, `depth` folders deep.
    What is hidden, what can't be listed, and what says something about the folder is passed over. Links to
    folders are followed if `follows`."""
    if not follows and folder.is_symlink():
        return
    try:
        with os.scandir(folder) as listing:
            entries = sorted((entry for entry in listing if entry.name[0] != "."), key=lambda each: each.name)
    except OSError:
        return
    folders = [entry for entry in entries if entry.is_dir(follow_symlinks=follows)]
    names = [entry.name for entry in entries if entry.name.endswith(".md")]
    yield from (folder / name for name in names if name.casefold() not in _ABOUT_THE_FOLDER)
    if depth > 1:
        for entry in folders:
            yield from markdown_files(folder / entry.name, depth - 1, follows=follows)


def content_within(path: Path, most: int) -> bytes:
    """The content of a file of at most that many bytes. `path` has its symlinks resolved. Blocks, but never
    waits for a pipe.

    Raises:
        UnusableFile: it isn't there, isn't a regular file, is larger, or can't be read.
    """
    try:
        content = content_of(path, most=most)
    except NoFile as error:
        raise UnusableFile("isn't a regular file") from error
    except OSError as error:
        is_large = error.errno == errno.EFBIG
        raise UnusableFile(
            f"is larger than {size(most)}" if is_large else f"can't be read: {error.strerror}"
        ) from error
    if content is None:
        raise UnusableFile("isn't there any more")
    return content


def visible_text(content: bytes) -> str:
    """The text of a file, without what nobody would see in it.

    Raises:
        UnusableFile: it isn't text.
    """
    try:
        return without_hidden(content.decode("utf-8-sig"))[0]
    except UnicodeDecodeError as error:
        raise UnusableFile(f"isn't UTF-8 text (byte {error.start})") from error


def usual_form(name: str) -> str:
    """The name in lower-case letters, digits and single hyphens, at most 64 characters; "" if it has no
    letters or digits."""
    return "-".join(filter(None, re.split(r"[^\w]|_", name.lower())))[:LONGEST_NAME].strip("-")


def split_words(words: str) -> list[str]:
    """The words one by one; quotes hold several together."""
    try:
        return shlex.split(words)
    except ValueError:  # a quote that is not closed
        return words.split()
