"""The refs of a repository, read as data from its files (gitrepository-layout(5))."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from keen_tui.domain.errors import WorkTreeFailed
from keen_tui.system.safe_read import content_of
from keen_tui.tools.git.folder_stamps import Stamps
from keen_tui.tools.git.git_data import is_ref, ref_value

PACKED: Final = "packed-refs"

_STDIN: Final = ("update-ref", "-z", "--stdin")
_OF_REMOTE: Final = re.compile(r"refs/remotes/[^/]+/HEAD")
"""The refs that may be symbolic."""
_MOST_NAMED: Final = 10
_HEAD_OF_LIST: Final = b"# pack-refs"
_LARGEST_LIST: Final = 500_000_000
_LONGEST: Final = 4_096
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

Refs = Mapping[str, str]
"""The value of each ref: a hash, or `ref: refs/...`."""


class RefReader:
    """Reads the refs in a folder, and remembers what files said that haven't changed.

    Args:
        is_ours: whether no command can write there, so that files can be opened by their path.
    """

    def __init__(self, folder: Path, *, is_ours: bool) -> None:
        self._folder = folder
        self._is_ours = is_ours
        self._content: Callable[[Path], bytes] = _of_ours if is_ours else _of_commands
        self._known: dict[str, tuple[tuple[int, ...], str | None]] = {}
        self._packed: tuple[tuple[int, ...], Refs] = ((), {})

    def read(self, stamps: Stamps) -> Refs:
        """The refs; `stamps` are those of the folder's files. What isn't a ref is left out.

        Raises:
            OSError: the list of refs can't be read.
            ValueError: it isn't one.
        """
        refs = dict(self._packed_refs(stamps.get(PACKED, ())))
        for name, stamp in stamps.items():
            if name.startswith("refs/") and not name.endswith(".lock"):
                known = self._known.get(name)
                if known is None or known[0] != stamp:
                    known = self._known[name] = (stamp, self._value(name))
                if known[1] is not None:
                    refs[name] = known[1]
        return refs

    def _value(self, name: str) -> str | None:
        with suppress(OSError):
            return ref_value(self._content(self._folder / name)) if is_ref(name) else None
        return None

    def _packed_refs(self, stamp: tuple[int, ...]) -> Refs:
        if stamp != self._packed[0]:
            content = content_of(self._folder / PACKED, most=_LARGEST_LIST) or b""
            if stamp and not self._is_ours and not content.startswith(_HEAD_OF_LIST):
                raise ValueError(f"{PACKED} can't be read")
            self._packed = (stamp, dict(_listed(content.decode("utf-8", "surrogateescape"))))
        return self._packed[1]


def packed(refs: Refs) -> bytes:
    """The file that holds these refs, except the symbolic ones."""
    rows = (f"{value} {name}\n" for name, value in sorted(refs.items()) if not value.startswith("ref:"))
    return f"# pack-refs with: sorted \n{''.join(rows)}".encode("utf-8", "surrogateescape")


def _listed(text: str) -> Iterator[tuple[str, str]]:
    for row in text.split("\n"):
        if row and row[0] not in "#^":
            value, _, name = row.partition(" ")
            if is_ref(name) and ref_value(value.encode("utf-8", "surrogateescape")):
                yield name, value


def _of_ours(path: Path) -> bytes:
    descriptor = os.open(path, _READ)
    try:
        return os.read(descriptor, _LONGEST)
    finally:
        os.close(descriptor)


def _of_commands(path: Path) -> bytes:
    return content_of(path, most=_LONGEST) or b""


def bring_refs_back(
    ran: Callable[..., object], before: Refs, ours: Refs, theirs: Refs, *, failed: list[str]
) -> Iterator[str]:
    """Change the refs of a repository, which are `theirs`, as a command has changed them from `before` to
    `ours`. A ref that somebody else has changed, or that git refuses, stays; what the command made of it gets
    another name. Yields sentences about those. `ran` runs git there, and raises WorkTreeFailed; the names of
    refs that git refuses are added to `failed`."""
    deleted: dict[str, bytes] = {}
    written: dict[str, bytes] = {}
    for name in sorted({**before, **ours}):
        mine, was, now = ours.get(name, ""), before.get(name, ""), theirs.get(name, "")
        if mine in (was, now):
            continue
        if now != was:
            if saved := _saved(ran, name, mine):
                yield f"{name} also changed outside the sandbox; the command's version is saved as {saved}"
        elif mine.startswith("ref:"):
            try:
                if not _OF_REMOTE.fullmatch(name):
                    raise WorkTreeFailed("a branch can't be another name for a ref")
                ran("symbolic-ref", name, mine[5:])
            except WorkTreeFailed as error:
                failed.append(name)
                yield f"{name} wasn't updated ({error})"
        elif mine:
            old = was if was and not was.startswith("ref:") else ""
            written[name] = _command("update", name, mine, old or "0" * len(mine) * (not was))
        else:
            deleted[name] = _command("delete", name, *([] if was.startswith("ref:") else [was]))
    for commands in (deleted, written):  # deleting `a` makes room for `a/b`
        refused = list(_refused(ran, commands))
        failed += [name for name, _ in refused]
        for name, why in refused[:_MOST_NAMED]:
            saved = _saved(ran, name, ours.get(name, ""))
            yield f"{name} wasn't updated ({why})" + (f"; it is saved as {saved}" if saved else "")
        if more := len(refused[_MOST_NAMED:]):
            yield f"{more:,} more refs weren't updated"


def _command(verb: str, name: str, *values: str) -> bytes:
    fields = (f"{verb} {name}", *values, *([""] if verb == "update" and len(values) == 1 else []))
    text = "option no-deref\0" + "".join(f"{field}\0" for field in fields)
    return text.encode("utf-8", "surrogateescape")


def kept_name(name: str, value: str) -> str:
    """The name under which a hash is saved that a ref or file of a command has."""
    return f"refs/keen/{name.removeprefix('refs/').removeprefix('heads/').replace('/', '-')}-{value[:8]}"


def _saved(ran: Callable[..., object], name: str, value: str) -> str:
    """Save a hash under another name, and return that; "" if it isn't one of an object that is there."""
    if not value or value.startswith("ref:"):
        return ""
    with suppress(WorkTreeFailed):
        kept = kept_name(name, value)
        ran(*_STDIN, given=_command("update", kept, value))
        return kept
    return ""


def _refused(
    ran: Callable[..., object], commands: Mapping[str, bytes]
) -> Iterator[tuple[str, WorkTreeFailed]]:
    """Run all at once; if git refuses them, each half. Yields the names of those that it refuses, and why."""
    waiting, refused = [list(commands)] if commands else [], 0
    while waiting:
        names = waiting.pop()
        try:
            ran(*_STDIN, given=b"".join(commands[name] for name in names))
        except WorkTreeFailed as error:
            if len(names) == 1 or refused >= _MOST_NAMED:
                refused += len(names)
                yield from ((name, error) for name in names)
            else:
                half = len(names) // 2
                waiting += [names[half:], names[:half]]
