"""One folder of a repository and of its shadow: the main one, or that of one of its work trees.

What belongs to a work tree is copied into the shadow and brought back here: HEAD, the index, reflogs, and the
files of an operation in progress.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from keen_tui.system.atomic_write import put_file, remove_file
from keen_tui.system.folders import opened_folder
from keen_tui.system.safe_read import NoFile, content_of
from keen_tui.tools.git.folder_stamps import FolderStamps, Stamps
from keen_tui.tools.git.git_data import (
    COPIED_OF_OTHERS,
    FOLDERS_OF_SERIES,
    is_autostash,
    is_copied,
    is_log,
    is_name_of_state,
    is_of_work_tree,
    is_state,
    names_objects,
    objects_in,
    only_names_objects,
    ref_value,
)
from keen_tui.tools.git.gitlinks import GITLINK
from keen_tui.tools.git.index_changes import UnknownIndex, changed_paths, index_info, is_touched
from keen_tui.tools.git.own_git import OwnGit
from keen_tui.tools.git.refs import Refs, bring_refs_back

PASSED_OVER: Final = frozenset(["objects", "hooks", "modules", "lfs", "worktrees", "rr-cache", "branches"])
_LARGEST: Final = 1_000_000_000
_LARGEST_INDEX: Final = 200_000_000
_LARGEST_LOG: Final = 50_000_000
_LARGEST_STATE: Final = 5_000_000
_MOST_STATE: Final = 500
_LONGEST_REF: Final = 4_096
_MOST_NAMED: Final = 3
_NOT_READ: Final = re.compile(
    rb"(?im)^[ \t]*(?:splitindex|sparse)[ \t]*(?:=[ \t]*\"?(?:true|yes|on|1)\b.*)?$"
)
"""Settings with which git writes an index that Keen doesn't read."""


class UnknownRepository(Exception):
    """A repository of a kind that can't be copied and brought back; the text says which."""


class GitFolder:
    """One folder of the repository, `real`, and of the shadow, `shadow`.

    `tree` is the top of its work tree; None: HEAD and index belong to a work tree that commands don't see. A
    `shared` folder has the refs, which aren't copied here.

    Args:
        index: a file that no command can reach, for the index as it was copied.
        hash_size: bytes of the name of an object.
    """

    def __init__(
        self,
        real: Path,
        shadow: Path,
        tree: Path | None,
        index: Path,
        git: OwnGit,
        *,
        shared: bool,
        hash_size: int,
    ) -> None:
        self.real = real
        self.shadow = shadow
        self.tree = tree
        self.pending: set[str] = set()
        """Entries of the shadow that can't come back, and that the repository doesn't overwrite."""
        self.stamps: Stamps = {}
        """The files of the repository when they were copied."""
        self._git = git
        self._index = index
        self._shared = shared
        self._hash_size = hash_size
        self._files = FolderStamps(real, PASSED_OVER)
        self._files_of_shadow = FolderStamps(shadow, PASSED_OVER)
        self._left: Stamps = {}
        self._copies: dict[str, bytes] = {}
        """The content of the small files when they were copied, by their names."""
        self._log_sizes: dict[str, int] = {}

    @property
    def is_seen(self) -> bool:
        """Whether commands see more of it than that it exists."""
        return self._shared or self.tree is not None

    def refresh(self) -> frozenset[str]:
        """Copy what has changed in the repository; returns the names of all changed files. Raises OSError and
        UnknownRepository."""
        found = self.look()
        changed = frozenset(_differing(self.stamps, found))
        if changed:
            self._require_known(found)
        for name in changed:
            if self._is_copied(name):
                self._copy(name)
        for unit in {name.partition("/")[0] for name in changed}.intersection(FOLDERS_OF_SERIES):
            if unit not in self.pending and not any(_is_of(name, unit) for name in found):
                self.put(f"{unit}/autostash", None)
                with suppress(OSError), opened_folder(self.shadow) as folder:
                    os.rmdir(unit, dir_fd=folder)  # git takes an empty one for an operation in progress
        self.stamps = found
        return changed

    def assume(self) -> None:
        """Note what the repository has, without copying it. Raises OSError."""
        self.stamps = self.look()
        for name in self.stamps:
            if self._is_copied(name) and name != "index" and not name.startswith("logs/"):
                self._copies[name] = self._of_real(name)

    def note(self) -> None:
        """Treat the shadow as it is now as unchanged. Raises OSError."""
        self._left = self._files_of_shadow.look()

    def changed(self) -> tuple[frozenset[str], Stamps]:
        """The files of the shadow that have changed, and all of them. Raises OSError."""
        found = self._files_of_shadow.look()
        return frozenset(_differing(self._left, found)), found

    def look(self) -> Stamps:
        """The files of the repository now. Raises OSError."""
        return self._files.look() if self.real.is_dir() else {}

    def settle(self, before: Stamps) -> None:
        """Note what was brought back, so that it isn't copied again. `before` are the files of the repository
        just before that: what had changed by then is copied with the next refresh."""
        now = self.look()
        names = now.keys() | self.stamps.keys()
        kept = {name for name in names if before.get(name) != self.stamps.get(name)}
        self.stamps = {
            name: stamp
            for name in names
            if (stamp := self.stamps.get(name) if name in kept else now.get(name)) is not None
        }

    def put(self, name: str, content: bytes | None) -> None:
        """Write a file of the shadow, or remove it. Raises OSError."""
        if content is None:
            with suppress(FileNotFoundError):
                remove_file(self.shadow / name)
        else:
            put_file(self.shadow / name, content, None, flush=False)

    def pass_over(self, paths: Sequence[bytes]) -> None:
        """Mark the files among these that git tracks as `skip-worktree` in the shadow's index. Raises OSError
        and WorkTreeFailed."""
        index = content_of(self._index, most=_LARGEST) or b""
        copy = self._index.with_name(f"{self._index.name}-passing")
        put_file(copy, index, None, flush=False)
        more = {"GIT_INDEX_FILE": str(copy), "GIT_LITERAL_PATHSPECS": "1"}
        assert self.tree
        at = (self.tree, f"--git-dir={self.real}", f"--work-tree={self.tree}")
        tracked = self._git.output(*at, "ls-files", "-z", "--", *map(os.fsdecode, paths), more=more)
        if paths and tracked:
            words = ("update-index", "-z", "--skip-worktree", "--stdin")
            self._git.output(*at, *words, given=tracked, more=more)
        if index:
            self.put("index", content_of(copy, most=_LARGEST))

    def ran(self, *words: str, given: bytes = b"") -> bytes:
        """Returns the output of a git command in the repository. Raises WorkTreeFailed."""
        tree = (f"--work-tree={self.tree}",) if self.tree else ()
        return self._git.output(self.tree or self.real, f"--git-dir={self.real}", *tree, *words, given=given)

    def _require_known(self, files: Stamps) -> None:
        if any(name.startswith("reftable/") for name in files):
            raise UnknownRepository("it has reftables")
        if any(_NOT_READ.search(self._of_real(name)) for name in ("config", "config.worktree")):
            raise UnknownRepository("it has a split or a sparse index")
        if any(name.startswith("sharedindex.") for name in files):  # those of the past stay for weeks
            try:
                changed_paths(b"", self._of_real("index"), self._hash_size)
            except UnknownIndex as error:
                raise UnknownRepository(str(error)) from error

    def _is_copied(self, name: str) -> bool:
        first = name.partition("/")[0]
        if name.endswith(".lock") or first in self.pending:
            return False
        if not self.is_seen:
            return name in COPIED_OF_OTHERS
        return is_copied(first) or (first == "refs" and not self._shared)

    def _copy(self, name: str) -> None:
        content = content_of(self.real / name, most=_LARGEST)
        self.put(name, content)
        if name == "index":
            put_file(self._index, content or b"", None, flush=False)
        elif name.startswith("logs/"):
            self._log_sizes[name] = len(content or b"")
        elif content is None:
            self._copies.pop(name, None)
        else:
            self._copies[name] = content

    def logs_of(self, changed: Collection[str]) -> Mapping[str, int]:
        """How long the reflogs that have changed in the shadow are in the repository."""
        names = (name for name in changed if name.startswith("logs/") and not name.endswith(".lock"))
        return {name: len(self._log(name)) for name in names}

    def bring_logs_back(self, sizes: Mapping[str, int], refs: Collection[str]) -> None:
        """Take over the lines of the reflogs of HEAD and of these refs; `sizes` are their lengths before git
        wrote its own lines. A log that can't be read or written is left out: another ref may be in its
        way."""
        for name, size in sizes.items():
            if name == "logs/HEAD" or name[5:] in refs:
                with suppress(OSError):
                    self._bring_log_back(name, size)

    def _bring_log_back(self, name: str, size: int) -> None:
        ours = content_of(self.shadow / name, most=_LARGEST_LOG)
        if not ours or not is_log(ours):
            return
        theirs, copied = self._log(name)[:size], self._log_sizes.get(name, 0)
        if theirs[:copied] == ours[:copied]:
            ours = theirs + ours[copied:]
        elif len(theirs) != copied:
            return  # rewritten here, and longer there
        put_file(self.real / name, ours, None, flush=False)
        self._log_sizes[name] = len(ours)

    def _log(self, name: str) -> bytes:
        """A reflog of the repository, b"" if none is there."""
        try:
            return self._of_real(name)
        except (NoFile, NotADirectoryError):
            return b""

    def bring_head_back(self) -> str:
        """Take over what is checked out. Returns the hash of a commit that needs a name, since the person has
        checked out something else, "" for none. Raises OSError and WorkTreeFailed."""
        ours = ref_value(self._of_shadow("HEAD", most=_LONGEST_REF))
        before, now = ref_value(self.copied("HEAD")), ref_value(self._of_real("HEAD"))
        if ours is None or ours in (before, now):
            return ""
        if now != before:
            return "" if ours.startswith("ref:") else ours
        words = ("symbolic-ref", "HEAD", ours[5:])
        self.ran(*(words if ours.startswith("ref:") else ("update-ref", "--no-deref", "HEAD", ours)))
        self._copies["HEAD"] = self._of_shadow("HEAD")
        return ""

    def bring_index_back(self, taken: Collection[str]) -> str:
        """Take over what is staged. Returns the paths that somebody else has staged too, at most three and as
        text, "" for none. `taken` are objects that have just come back.

        Raises:
            OSError: it can't be read.
            UnknownIndex: it is of a kind that Keen doesn't read, or names files that no work tree can have.
            WorkTreeFailed: git doesn't take it.
        """
        ours = content_of(self.shadow / "index", most=_LARGEST_INDEX)
        copied = content_of(self._index, most=_LARGEST) or b""
        if ours is None:
            return ""
        mine = changed_paths(copied, ours, self._hash_size)
        theirs: dict[bytes, object] = {}
        if mine and self.look().get("index") != self.stamps.get("index"):
            now = changed_paths(copied, self._of_real("index"), self._hash_size)
            theirs = {path: None for path in mine if is_touched(path, mine[path], now)}
        given = b"".join(index_info(path, entries) for path, entries in mine.items() if path not in theirs)
        staged = {each.oid for entries in mine.values() for each in entries if each.mode != GITLINK}
        if self._lacks(staged.difference(taken)):
            raise UnknownIndex("the index names objects that don't exist")
        if given:
            self.ran("update-index", "-z", "--index-info", given=given)
        put_file(self._index, ours, None, flush=False)
        named = [os.fsdecode(path) for path in list(theirs)[:_MOST_NAMED]]
        return ", ".join(named) + (", ..." if len(theirs) > len(named) else "")

    def bring_state_back(self, changed: Collection[str], files: Stamps) -> Iterator[str]:
        """Take over the files of an operation in progress. Yields the names of those that stay."""
        units = {first for name in changed if is_name_of_state(first := name.partition("/")[0])}
        for unit in sorted(units):
            inside = [name for name in files if _is_of(name, unit)]
            if len(inside) > _MOST_STATE or sum(files[name][2] for name in inside) > _LARGEST_STATE:
                self.pending.add(unit)
                yield unit
                continue
            there = {name: self._of_real(name) for name in self.look() if _is_of(name, unit)}
            before = {name: content for name, content in self._copies.items() if _is_of(name, unit)}
            ours = {name: self._of_shadow(name) for name in inside}
            ours = {name: each for name, each in ours.items() if not self._is_new_autostash(name, each)}
            if ours == there:
                continue
            if there != before or not self._are_state(ours):
                self.pending.add(unit)
                yield unit
                continue
            self.pending.discard(unit)
            for name in {**there, **ours}:
                self._take(name, ours.get(name))
            with suppress(OSError):
                (self.real / unit).rmdir()

    def saved_autostashes(self, changed: Collection[str]) -> Iterator[str]:
        """Save the person's changes that git has set aside in the sandbox; yields the names of the refs. Git
        itself must not apply them in the repository, where it would overwrite files that no command may
        change. Raises OSError and WorkTreeFailed."""
        for name in filter(is_autostash, changed):
            content = self._of_shadow(name)
            for commit in objects_in(name, content) if self._is_new_autostash(name, content) else ():
                self.ran("update-ref", saved := f"refs/keen/autostash-{commit[:8]}", commit)
                yield saved

    def _is_new_autostash(self, name: str, content: bytes) -> bool:
        return is_autostash(name) and content != self._of_real(name)

    def _are_state(self, files: Mapping[str, bytes]) -> bool:
        named = {each for name in files if only_names_objects(name) for each in objects_in(name, files[name])}
        return all(is_state(name, content) for name, content in files.items()) and not self._lacks(named)

    def _lacks(self, objects: Collection[str]) -> bool:
        """Whether one of these doesn't exist. A partial clone needn't have them. Raises WorkTreeFailed."""
        if not objects or b"promisor" in self._of_real("config"):
            return False
        return b" missing" in self.ran("cat-file", "--batch-check=", given="\n".join(objects).encode())

    def commits_named(self, changed: Collection[str]) -> Iterator[str]:
        """Yields the objects that changed files name: HEAD, the stash, refs and files of an operation. Raises
        OSError."""
        for name in changed:
            if names_objects(name):
                yield from objects_in(name, self._of_shadow(name))

    def _take(self, name: str, content: bytes | None) -> None:
        if content is None:
            remove_file(self.real / name)
            self._copies.pop(name, None)
        else:
            put_file(self.real / name, content, None, flush=False)
            self._copies[name] = content

    def bring_refs_back(self, changed: Collection[str], files: Stamps) -> Iterator[str]:
        """Take over the refs of this work tree alone. Yields sentences about those that stay."""
        if not any(name.startswith("refs/") for name in changed):
            return
        own = [name for name in files if is_of_work_tree(name)][:_MOST_STATE]
        ours = {name: self._of_shadow(name, most=_LONGEST_REF) for name in own}
        before = {name: content for name, content in self._copies.items() if is_of_work_tree(name)}
        theirs = {name: self._of_real(name) for name in self.look() if is_of_work_tree(name)}
        yield from bring_refs_back(self.ran, *(_said(each) for each in (before, ours, theirs)), failed=[])
        self._copies = {name: each for name, each in self._copies.items() if name not in before} | ours

    def keep(self, name: str, content: bytes, *, stays: bool) -> None:
        """Note what a file of the shadow holds; if it `stays`, the repository no longer
        overwrites it."""
        self._copies[name] = content
        if stays:
            self.pending.add(name)

    def copied(self, name: str) -> bytes:
        """Returns the content of a file when it was copied, b"" if it wasn't."""
        return self._copies.get(name, b"")

    def is_same(self, name: str) -> bool:
        """Whether a file of the shadow holds what that of the repository holds."""
        try:
            sizes = [(folder / name).lstat().st_size for folder in (self.shadow, self.real)]
            return sizes[0] == sizes[1] and self._of_shadow(name) == self._of_real(name)
        except OSError:
            return False

    def _of_shadow(self, name: str, *, most: int = _LARGEST_STATE) -> bytes:
        return content_of(self.shadow / name, most=most) or b""

    def _of_real(self, name: str) -> bytes:
        return content_of(self.real / name, most=_LARGEST) or b""


def _differing(before: Stamps, after: Stamps) -> Iterator[str]:
    """The names of files that were made, changed or removed."""
    for name, stamp in after.items():
        if before.get(name) != stamp:
            yield name
    yield from before.keys() - after.keys()


def _said(files: Mapping[str, bytes]) -> Refs:
    return {name: value for name, content in files.items() if (value := ref_value(content)) is not None}


def _is_of(name: str, unit: str) -> bool:
    return name == unit or name.startswith(f"{unit}/")
