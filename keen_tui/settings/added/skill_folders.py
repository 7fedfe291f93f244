"""Finds the folders of skills, and computes the digests of a project's."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from keen_tui.system.paths import SKILL_PLACES

FILES: Final = ("SKILL.md", "skill.md")
"""The file that makes a folder a skill; the first one counts."""

MOST_FILES: Final = 10_000
MOST_BYTES: Final = 32_000_000
"""Files, and bytes in them, of all skills of a project together: all of them are read at each start."""

_READ: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC

SkillOrigin = Literal["yours", "project"]


class SkillPlace(Struct, frozen=True, kw_only=True):
    """A folder that may hold skills. `shown` is its name for people."""

    folder: Path
    shown: str
    origin: SkillOrigin


class SkillFolder(Struct, frozen=True, kw_only=True):
    """A folder with a SKILL.md. `path` has its symlinks resolved, `name` is that of the entry, `file` that of
    the SKILL.md. `problem` says why it can't be used, "" for nothing.

    Of a project, `digest` is that of everything in it, and `files` and `bytes` count that.
    """

    name: str
    path: Path
    file: str
    place: SkillPlace
    digest: str = ""
    files: int = 0
    bytes: int = 0
    problem: str = ""


class SkillsTooLarge(Exception):
    """A folder has more files, or more bytes in them, than are read."""


_SHOWN: Final = ("your settings folder", "~/.agents/skills", "~/.claude/skills")


def own_folders(places: Sequence[Path]) -> tuple[SkillFolder, ...]:
    """The user's own skills, from the folders of `own_skill_places`; of two with the same name the first one
    counts. Links are followed: the user made them. Blocks; never raises."""
    broad = {Path(os.path.realpath(folder)) for folder in (Path.home(), places[0].parent)}
    broad |= {parent for folder in broad for parent in folder.parents}
    named = (
        SkillPlace(folder=folder, shown=shown, origin="yours")
        for folder, shown in zip(places, _SHOWN, strict=True)
    )
    return tuple(
        _unusable(each, "it links to a folder that holds more than a skill") if each.path in broad else each
        for each in _without_doubles(each for place in named for each in _folders(place))
    )


def project_folders(project: Path) -> tuple[SkillFolder, ...]:
    """The skills of a project, with the digest of everything in them. A link that leaves the project makes a
    skill unusable. In the home folder there are none: what is there is the user's own. Blocks; never
    raises."""
    root = Path(os.path.realpath(project))
    if root == Path(os.path.realpath(Path.home())):
        return ()
    places = (SkillPlace(folder=root / name, shown=name, origin="project") for name in SKILL_PLACES)
    found = _without_doubles(each for place in places for each in _folders(place))
    return tuple(_digested(found, root))


def digest_of_folder(folder: Path, most_files: int = MOST_FILES, most_bytes: int = MOST_BYTES) -> SkillDigest:
    """Returns a digest of everything in a folder: names, contents, links, and which files may be run.

    Raises:
        SkillsTooLarge: there is more than that. OSError: a part of it can't be read.
    """
    digest, files, size = hashlib.sha256(), 0, 0
    for path, names, others, descriptor in os.fwalk(folder, onerror=_raise):
        names.sort()
        for name in sorted((*others, *names)):
            status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                continue
            files += 1
            if files > most_files:
                raise SkillsTooLarge
            content = _content(name, status, descriptor, most_bytes - size)
            size += len(content)
            kind = stat.S_IFMT(status.st_mode) | (status.st_mode & stat.S_IXUSR)
            shown = os.fsencode(os.path.relpath(os.path.join(path, name), folder))  # noqa: PTH118 - bytes of it
            digest.update(b"%d:%s%d:%d:" % (len(shown), shown, kind, len(content)) + content)
    return SkillDigest(digest=digest.hexdigest(), files=files, bytes=size)


class SkillDigest(Struct, frozen=True, kw_only=True):
    """A digest, and what it was made of."""

    digest: str
    files: int
    bytes: int


def _raise(error: OSError) -> None:
    raise error


def _content(name: str, status: os.stat_result, folder: int, most: int) -> bytes:
    """Returns the bytes of an entry that count: the target of a link, or the content of a file."""
    if stat.S_ISLNK(status.st_mode):
        return os.fsencode(os.readlink(name, dir_fd=folder))
    if not stat.S_ISREG(status.st_mode):
        return b""
    if status.st_size > most:
        raise SkillsTooLarge
    with os.fdopen(os.open(name, _READ, dir_fd=folder), "rb") as file:
        content: bytes = file.read(most + 1) or b""
    if len(content) > most:
        raise SkillsTooLarge
    return content


def _folders(place: SkillPlace) -> Iterator[SkillFolder]:
    """The folders in a place that have a SKILL.md, in the order of their names."""
    try:
        with os.scandir(place.folder) as listing:
            names = sorted(entry.name for entry in listing if entry.name[0] != ".")
    except OSError:
        return
    for name in names:
        file = next((each for each in FILES if os.path.lexists(place.folder / name / each)), "")
        if file:
            path = Path(os.path.realpath(place.folder / name))
            yield SkillFolder(name=name, path=path, file=file, place=place)


def _without_doubles(found: Iterable[SkillFolder]) -> Iterator[SkillFolder]:
    """Each folder once: `.claude/skills` is often a link to `.agents/skills`."""
    seen: set[Path] = set()
    for each in found:
        if each.path not in seen:
            seen.add(each.path)
            yield each


def _digested(found: Iterable[SkillFolder], root: Path) -> Iterator[SkillFolder]:
    files_left, bytes_left = MOST_FILES, MOST_BYTES
    for each in found:
        if not each.path.is_relative_to(root) or each.path == root:
            yield _unusable(each, "it is a link to a place outside the project")
            continue
        try:
            result = digest_of_folder(each.path, files_left, bytes_left)
        except SkillsTooLarge:
            yield _unusable(each, f"the skills of a project may have {MOST_FILES:,} files and 32 MB together")
        except OSError as error:
            yield _unusable(each, f"a file in it can't be read ({error.strerror})")
        else:
            files_left, bytes_left = files_left - result.files, bytes_left - result.bytes
            yield replace(each, digest=result.digest, files=result.files, bytes=result.bytes)


def _unusable(folder: SkillFolder, problem: str) -> SkillFolder:
    return replace(folder, problem=problem)
