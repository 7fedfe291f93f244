"""A shadow of a repository, for commands to work in (docs/decisions/012-sandbox.md).

A command may do with it whatever it likes. Afterwards Keen brings back what is data, and that alone:
objects under the names that git computes for them, refs with valid names, what is checked out and staged,
reflogs, operations in progress, and settings that can't make git run anything.
"""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from keen_tui.domain.errors import WorkTreeFailed
from keen_tui.system.atomic_write import put_file
from keen_tui.system.folders import change_mode, names_in, opened_folder
from keen_tui.system.safe_read import content_of
from keen_tui.tools.files.git_place import GitPlace
from keen_tui.tools.git.brought_back import BroughtBack
from keen_tui.tools.git.changed_settings import ChangedSettings
from keen_tui.tools.git.folder_stamps import Stamps
from keen_tui.tools.git.git_data import is_name_of_state, is_ref
from keen_tui.tools.git.gitlinks import REPOSITORY_AMONG_PACKAGES, gitlinks_among_packages
from keen_tui.tools.git.index_changes import UnknownIndex
from keen_tui.tools.git.kept_files import committed, unstaged
from keen_tui.tools.git.new_objects import DamagedObjects, NewObjects
from keen_tui.tools.git.own_git import OwnGit
from keen_tui.tools.git.refs import PACKED, RefReader, Refs, bring_refs_back, packed
from keen_tui.tools.git.repository_part import GitFolder
from keen_tui.tools.sandbox.base import SHOWN_AS_THEY_ARE

_SHA256: Final = re.compile(rb"(?im)^[ \t]*objectformat[ \t]*=[ \t]*sha256")
_ALTERNATES: Final = "objects/info/alternates"
_WORK_TREES: Final = "worktrees"
_TREE_NAME: Final = re.compile(r"[\w-][\w.-]*")
_HANDLED: Final = frozenset(
    ["HEAD", "index", "logs", "refs", "packed-refs", "config", "description", "gc.log", "gc.pid", "MERGE_RR"]
)
"""Entries that come back, or that can be ignored."""
_ESCAPED: Final = re.compile(r"[\\*?\[ ]")
_ESCAPE: Final = r"\\\g<0>"
_MOST_TOLD: Final = 5
_MOST_TIPS: Final = 200
_LONGEST_PATH: Final = 4_096
_LARGEST_CONFIG: Final = 1_000_000

_Changes = Mapping[GitFolder, tuple[Collection[str], Stamps]]
"""For each folder of the shadow the files that have changed, and all of them."""


class ShadowDamaged(Exception):
    """A command has removed or damaged its shadow; the text says how. Nothing is brought back, and the shadow
    can't be used any more."""


class Shadow:
    """The shadow of the repository at `place`, in `folder`/git. All methods block, and hold its lock.

    Args:
        workspace: where commands may make work trees.
        folder: a folder of Keen's; what commands may reach in it is said in `ShownGit`.
        objects: the path under which commands find the objects of the repository.
        earlier: the shadow that this one replaces, which knows what the repository was at first.
    """

    def __init__(
        self,
        place: GitPlace,
        workspace: Path,
        folder: Path,
        objects: Path,
        git: OwnGit,
        earlier: Shadow | None = None,
    ) -> None:
        self.place = place
        self.path = folder / "git"
        self._workspace = workspace
        self._private = folder / "private"
        self._git = git
        self._lock = threading.Lock()
        self._told: set[str] = set()
        self._hidden: tuple[Path, ...] = ()
        self._links = objects == place.common / "objects"
        self._refs: Refs = {}
        self._tips: Sequence[str] | None = earlier._tips if earlier else None
        """The commits that the repository had before the first command."""
        self._theirs = RefReader(place.common, is_ours=True)
        self._ours = RefReader(self.path, is_ours=False)
        self.path.mkdir(exist_ok=True)
        self._make_usable()
        for each in ("objects/info", "objects/pack", "refs/heads", "refs/tags"):
            with opened_folder(self.path / each, make=True):
                pass  # never through a link, which a command may have put there
        self._private.mkdir()
        self._objects_at = os.fsencode(objects) + b"\n"
        put_file(self.path / _ALTERNATES, self._objects_at, None, flush=False)
        if not (self.path / PACKED).exists():
            put_file(self.path / PACKED, packed({}), None, flush=False)
        config = content_of(place.common / "config", most=_LARGEST_CONFIG) or b""
        self._settings: ChangedSettings = (
            earlier._settings if earlier else ChangedSettings(git, place.common / "config", config)
        )
        self._hash_size = 32 if _SHA256.search(config) else 20
        own = place.top if place.git == place.common else None
        index = self._private / "index"
        self._common = GitFolder(
            place.common, self.path, own, index, git, shared=True, hash_size=self._hash_size
        )
        self._trees: dict[str, GitFolder] = {}
        self._objects = NewObjects(self.path, place.common, self._private, git)

    def refresh(self, hidden: Sequence[Path]) -> None:
        """Make the shadow like the repository, except for what stayed in it. The `hidden` files of the work
        tree, which commands see as empty, are neither staged nor committed. Raises OSError,
        WorkTreeFailed, and UnknownRepository if it can't have a shadow."""
        with self._lock:
            self._refresh(
                [path.relative_to(self.place.top) for path in hidden if self.place.top in path.parents]
            )

    def assume(self) -> None:
        """Take what is in the shadow as changes of the repository, which is new. Raises OSError."""
        with self._lock:
            self._common.assume()
            self._tips = ()

    def bring_back(self) -> BroughtBack:
        """Bring back what commands have changed. Raises ShadowDamaged, and OSError if the disk is full, or
        the repository itself is gone."""
        with self._lock:
            return self._bring_back()

    def committed(self, paths: Sequence[Path]) -> list[Path]:
        """Which of these entries of the work tree have exactly the content that they have at the tip of a
        branch that the repository had before the first command."""
        return committed(self._common.ran, self.place.top, self._tips or (), self._hash_size, paths)

    def unstaged(self, paths: Sequence[Path]) -> list[str]:
        """Take these files of the work tree out of the index; returns the names of those that the last commit
        has."""
        own = self._trees.get(self.place.git.name, self._common)
        return unstaged(own.ran, self.place.top, paths)

    def _make_usable(self) -> None:
        """Take back the right to read and write the folder, if a command has removed it. Raises OSError."""
        with opened_folder(self.path) as folder:
            change_mode(folder, 0o755)

    def _refresh(self, hidden: Sequence[Path]) -> None:
        for name in SHOWN_AS_THEY_ARE:
            self._make_way(name)
        changed = self._common.refresh()
        if any(name == PACKED or name.startswith("refs/") for name in changed):
            self._copy_refs(self._theirs.read(self._common.stamps))
        if self._tips is None:
            self._tips = list(dict.fromkeys(self._refs.values()))[:_MOST_TIPS]
        for name in _names_in(self.place.common / _WORK_TREES):
            if name not in self._trees:
                self._trees[name] = self._part_of(name, self._tree_of(self.place.common, name))
        for part in self._trees.values():
            changed |= part.refresh()
        own = self._trees.get(self.place.git.name, self._common)
        if tuple(hidden) != self._hidden or (hidden and not changed.isdisjoint(("index", "info/exclude"))):
            self._hidden = tuple(hidden)
            rows = "".join(f"\n/{_ESCAPED.sub(_ESCAPE, path.as_posix())}" for path in hidden)
            exclude = self._common.copied("info/exclude") + rows.encode("utf-8", "surrogateescape")
            self._common.put("info/exclude", exclude + b"\n")
            own.pass_over([os.fsencode(path) for path in hidden])
        for part in (self._common, *self._trees.values()):
            part.note()

    def _make_way(self, name: str) -> None:
        """Make an entry for this folder of the repository: an empty folder as a mount point, or a link where
        nothing can be mounted."""
        there, real = self.path / name, self.place.common / name
        if not real.is_dir() or (there.is_symlink() and self._links):
            return
        if there.is_symlink():
            there.unlink()
        elif self._links or _names_in(there):  # an empty folder may be a mount point of another command
            shutil.rmtree(there, ignore_errors=True)
        if self._links:
            there.symlink_to(real)
        else:
            there.mkdir(exist_ok=True)

    def _copy_refs(self, refs: Refs) -> None:
        """All refs become one list, so that those that a command changes are files of their own."""
        _, files = self._common.changed()
        self._common.put(PACKED, packed(refs))
        for name in files:
            if name.startswith("refs/"):
                self._common.put(name, None)
        for name, value in refs.items():
            if value.startswith("ref:"):
                self._common.put(name, f"{value}\n".encode())
        self._refs = refs

    def _part_of(self, name: str, tree: Path | None) -> GitFolder:
        folders = (self.place.common / _WORK_TREES / name, self.path / _WORK_TREES / name)
        with opened_folder(self.path / _WORK_TREES / name, make=True):
            pass  # never through a link
        index = self._private / f"index-{name}"
        return GitFolder(*folders, tree, index, self._git, shared=False, hash_size=self._hash_size)

    def _tree_of(self, repository: Path, name: str) -> Path | None:
        """The work tree of that name, if commands can reach it."""
        if repository / _WORK_TREES / name == self.place.git:
            return self.place.top
        with suppress(OSError, ValueError):
            named = content_of(repository / _WORK_TREES / name / "gitdir", most=_LONGEST_PATH) or b""
            entry = Path(os.fsdecode(named.strip()))
            tree = Path(os.path.realpath(entry.parent))
            if entry.name == ".git" and entry.is_absolute() and self._workspace in tree.parents:
                return tree
        return None

    def _bring_back(self) -> BroughtBack:
        """Objects come first: what refers to them follows only if all of them came."""
        ended = self._ended_trees()
        for tree in ended:
            shutil.rmtree(self.place.common / _WORK_TREES / tree, ignore_errors=True)
            del self._trees[tree]
        unwritable: list[str] = []
        new = tuple(self._new_trees(unwritable))
        every = (self._common, *self._trees.values())
        parts = [part for part in every if part.is_seen and part.shadow.is_dir()]
        try:
            self._make_usable()
            changes = {part: part.changed() for part in parts}
            if not {"HEAD", PACKED} <= changes[self._common][1].keys():
                raise ShadowDamaged(f"HEAD or {PACKED} is missing")
            ours = self._ours.read(changes[self._common][1])
        except (OSError, ValueError) as error:
            raise ShadowDamaged(_words(error)) from error
        try:
            self._objects.bring_back()
        except DamagedObjects as error:
            raise ShadowDamaged(str(error)) from error
        if not ended and not any(names for names, _ in changes.values()):
            return BroughtBack()
        self._refuse_gitlinks(ours, changes)
        before = {part: part.look() for part in parts}
        is_done = ours != self._refs or any("HEAD" in names for names, _ in changes.values())
        sentences = [f"the work tree {name} can't be written, so it doesn't work" for name in unwritable]
        sentences += self._refs_back(ours, before[self._common], changes)
        for part, (names, files) in changes.items():
            sentences += self._part_back(part, names, files)
        sentences += self._rest_back(changes[self._common][0])
        for part in parts:
            part.settle(before[part])
            part.note()
        trees = tuple(part.tree / ".git" for part in new if part.tree)
        return BroughtBack(self._not_told(sentences), trees, is_done)

    def _refuse_gitlinks(self, ours: Refs, changes: _Changes) -> None:
        """Check that no new commit tracks a repository among packages. Raises ShadowDamaged."""
        refs = {value for name, value in ours.items() if self._refs.get(name) != value}
        named = (each for part, (names, _) in changes.items() for each in part.commits_named(names))
        new = refs.union(named).difference(self._refs.values())
        try:
            if new and any(gitlinks_among_packages(self._common.ran, new)):
                raise ShadowDamaged(REPOSITORY_AMONG_PACKAGES)
        except (OSError, WorkTreeFailed) as error:
            raise ShadowDamaged(_words(error)) from error

    def _refs_back(self, ours: Refs, seen: Stamps, changes: _Changes) -> Iterator[str]:
        logs = {part: part.logs_of(names) for part, (names, _) in changes.items()}
        theirs = self._theirs.read(seen)
        failed: list[str] = []
        yield from bring_refs_back(self._common.ran, self._refs, ours, theirs, failed=failed)
        again = {name: self._refs.get(name, "") for name in failed}
        self._refs = {name: value for name, value in {**ours, **again}.items() if value}
        for part, (names, files) in changes.items():
            if part is not self._common and part.is_seen:
                yield from part.bring_refs_back(names, files)
            try:
                if "HEAD" in names and part.tree and (commit := part.bring_head_back()):
                    name = f"refs/keen/HEAD-{commit[:8]}"
                    self._common.ran("update-ref", name, commit)
                    yield f"HEAD also changed outside the sandbox; the command's commit is saved as {name}"
            except (OSError, WorkTreeFailed) as error:
                yield f"HEAD wasn't updated ({_words(error)})"
            part.bring_logs_back(logs[part], ours)

    def _part_back(self, part: GitFolder, names: Collection[str], files: Stamps) -> Iterator[str]:
        try:
            if "index" in names and part.tree and (others := part.bring_index_back(self._objects.taken)):
                yield f"also staged outside the sandbox, so Keen kept those versions: {others}"
        except (OSError, UnknownIndex, WorkTreeFailed) as error:
            yield f"staged changes weren't brought back ({_words(error)})"
        try:
            for saved in part.saved_autostashes(names):
                yield f"changes that git set aside before an operation are also saved as {saved}"
            staying = list(part.bring_state_back(names, files)) if part.tree else []
            if staying:
                why = "it could run programs, or also changed outside the sandbox"
                yield f"not brought back, because {why}: {', '.join(staying)}"
        except (OSError, WorkTreeFailed) as error:
            yield f"the operation in progress wasn't brought back ({_words(error)})"

    def _rest_back(self, names: Collection[str]) -> Iterator[str]:
        """Bring settings back. Yields a sentence that names what stays in the shadow."""
        staying = [*self._new_hooks(), *sorted(name for name in names if not self._is_handled(name))]
        if "config" in names:
            try:
                staying += self._settings_back()
            except (OSError, WorkTreeFailed) as error:
                staying.append(f"config ({_words(error)})")
        if staying:
            shown = ", ".join(staying[:_MOST_TOLD]) + (", ..." if len(staying) > _MOST_TOLD else "")
            yield f"changed only in the sandbox: {shown}"

    def _settings_back(self) -> list[str]:
        ours = content_of(self.path / "config", most=_LARGEST_CONFIG) or b""
        staying = self._settings.bring_back(self._common.copied("config"), ours)
        self._common.keep("config", ours, stays=bool(staying))
        return [f"the setting {name}" for name in staying]

    def _is_handled(self, name: str) -> bool:
        first = name.partition("/")[0]
        if first == "refs":
            return is_ref(name) or name.endswith(".lock")
        return (
            name == "info/refs"
            or first in _HANDLED
            or is_name_of_state(first)
            or name.endswith((".lock", ".patch"))
            or self._common.is_same(name)
        )

    def _new_hooks(self) -> Iterator[str]:
        """The hooks that commands have made where they could."""
        if not (self.path / "hooks").is_symlink():
            there = _names_in(self.place.common / "hooks")
            for name in _names_in(self.path / "hooks"):
                if name not in there and not name.endswith(".sample"):
                    yield f"hooks/{name}"

    def _new_trees(self, unwritable: list[str]) -> Iterator[GitFolder]:
        """The work trees that a command has made in the workspace. The names of those that Keen can't write
        are added to `unwritable`."""
        for name in _names_in(self.path / _WORK_TREES):
            tree = self._tree_of(self.path, name) if _TREE_NAME.fullmatch(name) else None
            if name in self._trees or tree is None:
                continue
            real = self.place.common / _WORK_TREES / name
            try:
                if not self._is_named_by(tree, name) or os.path.lexists(real):
                    continue
            except OSError:
                continue
            nothing = b"ref: refs/heads/none\n"  # until git has checked what is checked out
            named = {"commondir": b"../..\n", "gitdir": os.fsencode(tree / ".git") + b"\n", "HEAD": nothing}
            try:
                put_file(tree / ".git", b"gitdir: " + os.fsencode(real) + b"\n", None, flush=False)
                for file, content in named.items():
                    put_file(real / file, content, None, flush=False)
                self._trees[name] = self._part_of(name, tree)
            except OSError:
                shutil.rmtree(real, ignore_errors=True)
                unwritable.append(name)
                continue
            self._trees[name].keep("HEAD", nothing, stays=False)
            yield self._trees[name]

    def _is_named_by(self, tree: Path, name: str) -> bool:
        pointer = os.fsdecode((content_of(tree / ".git", most=_LONGEST_PATH) or b"").strip())
        named = Path(pointer.removeprefix("gitdir: "))
        return named in (repository / _WORK_TREES / name for repository in (self.place.common, self.path))

    def _ended_trees(self) -> list[str]:
        """The work trees that a command has removed from the workspace."""
        there = _names_in(self.path / _WORK_TREES)
        return [
            name
            for name, part in self._trees.items()
            if name not in there and part.tree and part.tree != self.place.top and not part.tree.exists()
        ]

    def _not_told(self, sentences: Iterable[str]) -> tuple[str, ...]:
        new = tuple(sentence for sentence in sentences if sentence not in self._told)
        self._told.update(new)
        return new


def _names_in(folder: Path) -> list[str]:
    with suppress(OSError), opened_folder(folder) as inner:
        return names_in(inner)
    return []


def _words(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
