"""Runs the steps of a command in order: git separately on its own terms, everything else in the ordinary
sandbox.

Nothing that the model wrote runs while `.git` can be written. Flags override git's settings, so that no file
can mislead a command; most commands can't start another program at all; and if a setting of the repository
names a program, the whole command runs in the ordinary sandbox, like any other.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Final

from keen_tui.domain.errors import ToolFailure
from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.git.aftermath import changes, look
from keen_tui.tools.git.config import LIST, GitConfig, global_files, parse
from keen_tui.tools.git.hooks import PRE_COMMIT, Hooks
from keen_tui.tools.git.linked_tree import points_to
from keen_tui.tools.git.plan import PlannedStep
from keen_tui.tools.permissions.shell.git_writers import GitCommand
from keen_tui.tools.permissions.shell.grammar import Word
from keen_tui.tools.process.process import Ended, run_command
from keen_tui.tools.process.time_limit import TimeLimit
from keen_tui.tools.sandbox.base import Argv, Launch, Sandbox, Terms, in_thread

_GUARDS: Final = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.editor=:",
    "core.sshCommand=false",
    "core.preloadIndex=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.allow=never",
    "diff.external=",
    "diff.ignoreSubmodules=all",
    "submodule.recurse=false",
    "branch.autoSetupMerge=false",
)
"""Settings that must not mislead git, with safe values."""

_MOST_LOOKS: Final = 5
_FATAL: Final = 128
_LISTING_SECONDS: Final = 30
_GITLINK: Final = b"160000 "

WriteOutput = Callable[[bytes], None]


class GitSteps:
    """Runs the steps of one command. `git` is the path of the program; `ordinary` has the terms of other
    commands."""

    def __init__(
        self,
        sandbox: Sandbox,
        workspace: Workspace,
        git: str,
        environ: Mapping[str, str],
        ordinary: Callable[[str], AbstractAsyncContextManager[Launch]],
    ) -> None:
        self._sandbox = sandbox
        self._workspace = workspace
        self._root = workspace.root
        linked = workspace.linked
        self._repository = linked.git if linked else workspace.root / ".git"
        self._common = linked.common if linked else self._repository
        self._parts = tuple(dict.fromkeys((self._common, self._repository)))
        self._git = git
        self._ordinary = ordinary
        self._environ = environ
        self._home = Path(os.path.realpath(environ.get("HOME") or Path.home()))
        self._readable: tuple[Path, ...] = ()
        self._config = GitConfig()
        self._hooks = Hooks(self._root, self._common, self._config)
        self._ignored: Collection[Path] = ()
        self.hidden: tuple[Path, ...] = ()
        """The files of the workspace that the steps can't read."""
        self.written: list[str] = []
        """The commands of git that ran where they could write the repository."""

    async def objection(self, steps: Sequence[PlannedStep]) -> str:
        """Why git may not run separately here, as the end of a sentence; "" if it may.

        Raises:
            OSError: nothing can be started here.
        """
        commands = [step.git for step in steps if step.git]
        if reason := self._not_whole():
            return reason
        if reason := await self._read_config():
            return reason
        if self._config.is_on("commit.gpgsign") or self._config.is_on("tag.gpgsign"):
            return "your commits are signed with your key"
        self._hooks = Hooks(self._root, self._common, self._config)
        if reason := next(filter(None, map(self._hooks.objection, commands)), ""):
            return reason
        if any(each.needs_programs for each in commands):
            reason = await self._objection_to_programs()
        if not reason and any(each.takes_files for each in commands):
            reason = await self._objection_to_secrets()
        return reason

    async def run(self, steps: Sequence[PlannedStep], limit: TimeLimit, on_output: WriteOutput) -> Ended:
        """Run the steps as a shell would, within one time limit for all of them. Raises OSError."""
        folder, ended = self._root, Ended(0)
        for step in steps:
            if (step.joined == "&&" and ended.code) or (step.joined == "||" and not ended.code):
                continue
            if step.folder is not None:
                ended, folder = self._entered(folder, step.folder, on_output)
            elif step.git:
                ended = await self._run_git(step.git, folder, limit, on_output)
            else:
                ended = await self._run_other(step.text, folder, limit, on_output)
            if ended.timed_out:
                break
        return ended

    async def _run_other(self, text: str, folder: Path, limit: TimeLimit, on_output: WriteOutput) -> Ended:
        if folder != self._root:
            text = f"cd -- {shlex.quote(str(folder))} && {{ {text}\n}}"
        async with self._ordinary(text) as launch:
            return await run_command(launch, folder=self._root, timeout=limit, on_output=on_output)

    def _entered(self, folder: Path, name: str, on_output: WriteOutput) -> tuple[Ended, Path]:
        entered = folder / name
        if not entered.is_dir() or not self._workspace.place(str(entered)).inside:
            on_output(f"cd: {name}: no such folder in the workspace\n".encode())
            return Ended(1), folder
        return Ended(0), entered

    async def _run_git(
        self, command: GitCommand, folder: Path, limit: TimeLimit, on_output: WriteOutput
    ) -> Ended:
        if reason := self._not_whole() or _other_repository(folder, self._root):
            on_output(f"git was not run: {reason}\n".encode())
            return Ended(_FATAL)
        try:
            argv = self._argv(command, folder)
        except ToolFailure as failure:
            on_output(f"{failure}\n".encode())
            return Ended(_FATAL)
        if command.verb == "commit" and (hook := self._hooks.path(PRE_COMMIT)):
            ended = await self._run_hook(hook, command, limit, on_output)
            if ended.code:
                return ended
        before = await asyncio.to_thread(look, *self._parts)
        terms = Terms(git=True, alone=not command.needs_programs, readable=self._readable)
        self.written.append(command.verb)
        ended = await self._run(argv, terms, limit, on_output, takes_files=command.takes_files)
        after = await asyncio.to_thread(look, *self._parts)
        for line in self._notes(command, ended, changes(before, after)):
            on_output(f"[{line}]\n".encode())
        return ended

    def _not_whole(self) -> str:
        """Why git may not run separately on the repository of this workspace; "" if it may. A work tree of
        Keen's has its repository elsewhere, and Keen knows where."""
        if self._workspace.linked:
            leads_there = points_to(self._root, self._repository)
            return "" if leads_there else ".git no longer leads to the repository of this work tree"
        return _not_whole(self._repository)

    async def _run_hook(
        self, hook: Path, command: GitCommand, limit: TimeLimit, on_output: WriteOutput
    ) -> Ended:
        """Run the user's hook in the ordinary sandbox, where it can't write the repository."""
        if command.has("-a", "--all"):
            staging = self._argv(GitCommand(verb="add", options=("-u",)), self._root)
            terms = Terms(git=True, alone=True, readable=self._readable)
            ended = await self._run(staging, terms, limit, on_output)
            if ended.code:
                return ended
        ended = await self._run_other(shlex.quote(str(hook)), self._root, limit, on_output)
        if ended.code:
            on_output(b"[the hook pre-commit failed, so nothing was committed]\n")
        return ended

    def _notes(self, command: GitCommand, ended: Ended, changed: Sequence[str]) -> Iterator[str]:
        if changed:
            yield f"check these before you run git elsewhere; they changed in .git: {', '.join(changed)}"
        if not ended.code and (left_out := self._hooks.left_out(command)):
            yield f"these hooks were not run: {', '.join(left_out)}"

    async def _read_config(self) -> str:
        """Read the settings, and again with other files that they name."""
        self._readable = await asyncio.to_thread(global_files, self._home, self._environ)
        for _ in range(_MOST_LOOKS):
            code, listed = await self._listed((*self._global(), *LIST))
            if code:
                return "git's settings can't be read"
            try:
                self._config = parse(listed)
            except ValueError as error:
                return str(error)
            if reason := self._config.objection(self._root, self._home):
                return reason
            more = [file for file in self._config.files(self._home) if file not in self._readable]
            if not more:
                return ""
            self._readable = (*self._readable, *more)
        return "git's settings include each other too many times"

    async def _objection_to_programs(self) -> str:
        """Objects to submodules: they have settings of their own, which git would follow."""
        code, listed = await self._listed((*self._global(), "ls-files", "--stage", "--", ":/"))
        if code or any(line.startswith(_GITLINK) for line in listed.split(b"\n")):
            return "there are submodules in this repository"
        return ""

    async def _objection_to_secrets(self) -> str:
        """Objects to hidden files: git would see them as empty, and commit them like that."""
        hidden = [str(path.relative_to(self._root)) for path in self.hidden]
        if not hidden:
            return ""
        _, listed = await self._listed(
            (*self._global(), "-c", "core.quotePath=false", "check-ignore", "--", *hidden)
        )
        ignored = set(map(os.fsdecode, listed.splitlines()))
        self._ignored = {path for path, name in zip(self.hidden, hidden, strict=True) if name in ignored}
        return _not_ignored(self.hidden, self._ignored)

    async def _listed(self, words: Sequence[str]) -> tuple[int, bytes]:
        found: list[bytes] = []
        terms = Terms(writes=False, git=True, alone=True, readable=self._readable)
        ended = await self._run((self._git, *words), terms, TimeLimit(_LISTING_SECONDS), found.append)
        return ended.code, b"".join(found)

    def _global(self) -> Iterator[str]:
        """Flags that name the repository, so that git doesn't find another one in a folder."""
        yield from (f"--git-dir={self._repository}", f"--work-tree={self._root}")

    def _argv(self, command: GitCommand, folder: Path) -> Argv:
        guards = [word for setting in _GUARDS for word in ("-c", setting)]
        operands = list(_expanded(command.operands, folder))
        behind = [] if command.paths is None else ["--", *_expanded(command.paths, folder)]
        if command.verb == "checkout" and operands:  # a branch, and never a file whose changes would be lost
            behind = ["--"]
        return (
            self._git,
            *("-C", str(folder), *self._global(), *guards, *self._config.guards()),
            *(command.verb, *command.options, *operands, *behind),
        )

    async def _run(
        self, argv: Argv, terms: Terms, limit: TimeLimit, on_output: WriteOutput, *, takes_files: bool = False
    ) -> Ended:
        own = {"PATH": f"{Path(self._git).parent}:/usr/bin:/bin", "GIT_EDITOR": ":"}
        async with in_thread(self._sandbox.wrap(argv, {**self._environ, **own}, terms)) as launch:
            self.hidden = launch.hidden
            if takes_files and (
                reason := _not_ignored(launch.hidden, self._ignored)
            ):  # an earlier step created it
                on_output(f"git was not run: {reason}\n".encode())
                return Ended(_FATAL)
            return await run_command(launch, folder=self._root, timeout=limit, on_output=on_output)


def _not_ignored(hidden: Sequence[Path], ignored: Collection[Path]) -> str:
    found = next((path.name for path in hidden if path not in ignored), "")
    return f"{found} may hold keys or passwords, and git does not ignore it" if found else ""


def _not_whole(repository: Path) -> str:
    """Why `.git` isn't a repository itself, but a file or a link to one elsewhere; "" if it is one."""
    try:
        mode = repository.lstat().st_mode
    except OSError:
        return "there is no repository in the workspace's own folder"
    if not stat.S_ISDIR(mode) or (repository / "commondir").exists():
        return ".git leads to a repository elsewhere"
    return ""


def _other_repository(folder: Path, root: Path) -> str:
    """Why git would work on another repository below the root, whose settings commands can write; "" if it
    wouldn't."""
    for inner in (folder, *folder.parents):
        if inner == root:
            return ""
        bare = (inner / "HEAD").exists() and (inner / "objects").exists()
        if os.path.lexists(inner / ".git") or bare:
            return f"{inner.relative_to(root)} is a repository of its own"
    return "it is outside the workspace"


def _expanded(words: Sequence[Word], folder: Path) -> Iterator[str]:
    """The words as the shell passes them on: a pattern becomes the names that match, or stays if none
    does."""
    for word in words:
        if not word.is_glob:
            yield word.text
            continue
        found = sorted(_names(word.text, folder)) or [word.text]
        if any(name.startswith("-") for name in found):
            raise ToolFailure(f"a file that {word.text} finds is named like an option")
        yield from found


def _names(pattern: str, folder: Path) -> Sequence[str]:
    import glob  # noqa: PLC0415 - for patterns only

    return glob.glob(pattern, root_dir=folder)  # noqa: PTH207 - of a folder that may be /
