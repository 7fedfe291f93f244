"""The repository of a workspace as its commands find it: a shadow for those that write."""

from __future__ import annotations

import logging
import shlex
import threading
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from keen_tui.domain.errors import ConfigError, WorkTreeFailed
from keen_tui.system.atomic_write import put_file
from keen_tui.system.trees import remove_tree
from keen_tui.text.sanitize import clean
from keen_tui.tools.files.git_place import GitPlace, git_place
from keen_tui.tools.git.brought_back import BroughtBack
from keen_tui.tools.git.own_git import OwnGit
from keen_tui.tools.git.repository_part import UnknownRepository
from keen_tui.tools.git.shadow import Shadow, ShadowDamaged
from keen_tui.tools.git.user_settings import write_settings
from keen_tui.tools.sandbox.base import PARTS_OF_GIT, SETTINGS, Sandbox, ShownGit
from keen_tui.tools.sandbox.placeholders import is_free
from keen_tui.tools.sandbox.scratch import keep_for, scratch_in

_log = logging.getLogger(__name__)

_MISSING: Final = "git isn't installed."
_HELD: Final = (
    "changes of the repository couldn't be brought back ({}); Keen tries again with the next command"
)
_DAMAGED: Final = (
    "Keen can't use the command's copy of the repository ({}), so none of its changes came back. The "
    "repository itself is unchanged, and later commands get a new copy"
)
_NOT_MADE: Final = "Keen couldn't make the repository ({}); the command's own is {} until Keen ends"
_MOST_NAMED: Final = 3
_PROGRAMS: Final = "programs"

_FINDS_SHADOW: Final = """\
#!/bin/sh
# Made by Keen for commands in its sandbox: where git would use the repository, it uses a shadow.
git={git} common={common} shadow={shadow}
if [ -n "$GIT_DIR" ]; then
    [ "$(cd "$GIT_DIR" 2>/dev/null && pwd -P)" = "$common" ] && GIT_DIR=$shadow
    exec "$git" "$@"
fi
count=0 is_value=
for word in "$@"; do
    if [ -n "$is_value" ]; then
        is_value=
    else
        case $word in
        -C | -c | --namespace | --config-env | --super-prefix | --attr-source) is_value=yes ;;
        --git-dir | --git-dir=* | --work-tree | --work-tree=* | --bare | init | clone) exec "$git" "$@" ;;
        -*) ;;
        *) break ;;
        esac
    fi
    count=$((count + 1))
done
found=$(
    all=$# left=$count
    while [ "$left" -gt 0 ]; do
        set -- "$@" "$1"
        shift
        left=$((left - 1))
    done
    shift $((all - count))
    "$git" "$@" rev-parse --absolute-git-dir --show-toplevel 2>/dev/null
)
folder=${{found%%
*}}
case $folder in
"$common" | "$common"/worktrees/*) ;;
*) exec "$git" "$@" ;;
esac
top=${{found#*
}}
[ "$top" != "$found" ] && export GIT_WORK_TREE="$top"
export GIT_DIR="$shadow${{folder#"$common"}}"
exec "$git" "$@"
"""
"""For sandboxes that can't show one folder in the place of another: a program `git`, first in PATH."""


class CommandGit:
    """The repository of one workspace for the commands in one sandbox. All methods block."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._objects = sandbox.objects_of_git
        self._policy = sandbox.policy
        self._scratch = scratch_in(sandbox.policy.scratch)
        self._folder: Path | None = None
        self._shadow: Shadow | None = None
        self._latest: Shadow | None = None
        """The last one, even if it can't be used any more."""
        self._early = BroughtBack()
        self._settings_of: Mapping[Path, int] = {}
        self._own = self._policy.workspace / ".git"
        self._unborn: Path | None = None
        """Where a repository goes that a command makes."""
        self._lock = threading.Lock()

    def view(self, hidden: Sequence[Path], *, writes: bool) -> ShownGit | None:
        """Returns the repository as a command is to see it, without the `hidden` files of the work tree; None
        without git."""
        try:
            git = OwnGit(missing=_MISSING)
        except ConfigError:
            return None
        with self._lock:
            place = self._place()
            if self._shadow and self._shadow.place != place:
                self._bring_back_early()
                self._shadow = None
            self._folder = self._folder or self._scratch.new_folder("git-")
            return ShownGit(
                place=place,
                shadow=self._refreshed(place, git, hidden) if place and writes else None,
                settings=self._settings(git),
                programs=self._folder / _PROGRAMS,
                unborn=self._place_for_new() if writes else None,
            )

    def _place_for_new(self) -> Path | None:
        """The folder that commands find, and may write, where the workspace could have a repository; None if
        it has one, or this sandbox can't mount."""
        if self._objects is None or not is_free(self._own):
            return None
        if self._unborn is None:
            self._unborn = self._scratch.new_folder("shadow-")
            (self._unborn / "git").mkdir()
        return self._unborn / "git"

    def bring_back(self) -> BroughtBack:
        """Bring back what a command has changed."""
        with self._lock:
            early, self._early = self._early, BroughtBack()
            return early.before(self._brought_back())

    def _bring_back_early(self) -> None:
        """Bring back what a command in the background has changed; the next end of a command tells it."""
        self._early = self._early.before(self._brought_back())

    def _brought_back(self) -> BroughtBack:
        if self._shadow is None:
            return BroughtBack()
        try:
            return self._shadow.bring_back()
        except ShadowDamaged as damage:
            self._shadow = None
            return BroughtBack((_DAMAGED.format(damage),))
        except OSError as error:
            _log.warning("nothing came back from a shadow", exc_info=True)
            return BroughtBack((_HELD.format(error.strerror or error),), is_held=True)
        except Exception as error:  # a command may have put anything there
            _log.exception("a shadow can't be read")
            self._shadow = None
            return BroughtBack((_DAMAGED.format(error),))

    def adopt(self) -> BroughtBack:
        """If a command has made a repository where there is none, make one there, and bring back what is data
        from that of the command."""
        with self._lock:
            unborn = self._unborn
            if unborn is None or not (unborn / "git/HEAD").is_file():
                return BroughtBack()
            self._unborn = None
            place = GitPlace(self._policy.workspace, self._own, self._own)
            try:
                git = OwnGit(missing=_MISSING)
                if git_place(self._policy.workspace, self._policy.home) != place:
                    git.output(self._policy.workspace, "init", "-q", str(self._policy.workspace))
                self._shadow = Shadow(place, self._policy.workspace, unborn, self._objects_of(place), git)
                self._shadow.assume()
                keep_for(unborn, place.common)
                self._latest = self._shadow
            except (OSError, WorkTreeFailed, ConfigError) as error:
                _log.warning("a new repository can't be taken over", exc_info=True)
                self._shadow = None
                return BroughtBack((_NOT_MADE.format(error, unborn / "git"),))
            return self._brought_back()

    def committed(self, paths: Sequence[Path]) -> Collection[Path]:
        """Which of these entries have exactly the content that a commit of the person's has there."""
        with self._lock:
            return self._shadow.committed(paths) if self._shadow else ()

    def unstaged(self, names: Sequence[str]) -> Sequence[str]:
        """Take these files of the workspace out of the index; returns those that the last commit has."""
        with self._lock:
            paths = [self._policy.workspace / name for name in names]
            return self._shadow.unstaged(paths)[:_MOST_NAMED] if self._shadow else ()

    def _place(self) -> GitPlace | None:
        """The repository. If it is outside the workspace, the policy must name it: its mounts are prepared at
        the start."""
        place = git_place(self._policy.workspace, self._policy.home)
        is_inside = place is not None and place.common.parent == self._policy.workspace
        return place if is_inside or place == self._policy.git else None

    def _refreshed(self, place: GitPlace, git: OwnGit, hidden: Sequence[Path]) -> Path | None:
        """The shadow as it has to be before a command; None if it can't have one: then it is read-only."""
        self._bring_back_early()
        if self._early.is_held:
            return None  # what is in the shadow must not be overwritten
        is_new = False
        while not is_new:
            is_new = self._shadow is None
            try:
                self._shadow = self._shadow or self._new_shadow(place, git)
                self._shadow.refresh(hidden)
                return self._shadow.path
            except (OSError, WorkTreeFailed, UnknownRepository) as error:
                _log.warning("the repository %s has no shadow: %s", place.common, error)
                if is_new and self._shadow:
                    remove_tree(self._shadow.path.parent)
                self._shadow = None
        return None

    def _new_shadow(self, place: GitPlace, git: OwnGit) -> Shadow:
        folder = self._scratch.new_folder("shadow-")
        earlier = self._latest if self._latest and self._latest.place == place else None
        shadow = Shadow(place, self._policy.workspace, folder, self._objects_of(place), git, earlier)
        keep_for(folder, place.common)
        self._latest = shadow
        self._write_program(place, shadow.path, git)
        return shadow

    def _objects_of(self, place: GitPlace) -> Path:
        return self._objects or place.common / "objects"

    def _write_program(self, place: GitPlace, shadow: Path, git: OwnGit) -> None:
        self._folder = self._folder or self._scratch.new_folder("git-")
        words = {"git": git.program, "common": str(place.common), "shadow": str(shadow)}
        text = _FINDS_SHADOW.format(**{name: shlex.quote(word) for name, word in words.items()})
        programs = self._folder / _PROGRAMS
        put_file(programs / "git", text.encode("utf-8", "surrogateescape"), None, mode=0o755, flush=False)
        if self._objects or (programs / PARTS_OF_GIT).exists():
            return
        (programs / PARTS_OF_GIT).mkdir()
        for part in Path(git.line(self._policy.workspace, "--exec-path")).iterdir():
            is_git = part.name == "git"
            (programs / PARTS_OF_GIT / part.name).symlink_to(programs / "git" if is_git else part)

    def _settings(self, git: OwnGit) -> Path:
        assert self._folder
        folder = self._folder / SETTINGS
        if not self._settings_of or _changed(self._settings_of) != self._settings_of:
            shown_at = self._objects.with_name(SETTINGS) if self._objects else folder
            files = write_settings(git, self._policy.workspace, self._policy.home, folder, shown_at)
            self._settings_of = _changed(files)
        return folder


class GitUse:
    """The use of the repository by one command (`GitSource`)."""

    def __init__(self, git: CommandGit) -> None:
        self._git = git
        self.brought_back = BroughtBack()
        self._more: list[str] = []

    @contextmanager
    def shown(self, hidden: Sequence[Path], *, writes: bool) -> Iterator[ShownGit | None]:
        view = self._git.view(hidden, writes=writes)
        try:
            yield view
        finally:
            if view and view.shadow:
                self.brought_back = self._git.bring_back()
            if view and view.unborn:
                new = self._git.adopt()
                self._more += new.sentences

    @property
    def sentences(self) -> Sequence[str]:
        """Sentences about changes that stay in the shadow, and warnings."""
        return tuple(map(clean, (*self.brought_back.sentences, *self._more)))

    def unstage(self, names: Sequence[str]) -> None:
        """Take these files of the workspace, which were set aside, out of the index. Blocks."""
        if committed := self._git.unstaged(names):
            self._more.append(f"set aside, but already in the last commit: {', '.join(committed)}")

    def known(self, paths: Sequence[Path]) -> Collection[Path]:
        """Which of these new entries of the workspace come from the repository: the `.git` files of work
        trees, and what the person's own commits have. Blocks."""
        return [*self.brought_back.trees, *self._git.committed(paths)]


_in_use: weakref.WeakKeyDictionary[Sandbox, CommandGit] = weakref.WeakKeyDictionary()


def git_in(sandbox: Sandbox) -> CommandGit:
    """The repository for the commands in a sandbox, shared by all its users."""
    found = _in_use.get(sandbox)
    if found is None:
        found = _in_use[sandbox] = CommandGit(sandbox)
    return found


def _changed(files: Iterable[Path]) -> Mapping[Path, int]:
    """When each file has changed, in nanoseconds; 0 for one that isn't there."""
    found = dict.fromkeys(files, 0)
    for file in found:
        with suppress(OSError):
            found[file] = file.stat().st_ctime_ns
    return found
