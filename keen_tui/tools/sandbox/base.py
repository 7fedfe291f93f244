"""The contract with a sandbox: it runs a command so that it reaches only what the policy allows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import Final, Protocol, TypeVar

from msgspec import Struct

from keen_tui.system.threads import to_the_end
from keen_tui.tools.files.git_place import GitPlace
from keen_tui.tools.sandbox.policy import Policy

Argv = tuple[str, ...]
Entered = TypeVar("Entered")


class Launch(Struct, frozen=True, kw_only=True):
    """How to start a process.

    `descriptors` are inherited. `confine` is called in the starting thread, with `close_fds=False`, and
    permanently confines that thread and with it the process; None: `argv` does everything. `wrapped`: the
    process itself only waits for the command. `hidden` are the files of the workspace that it can't read.
    `shares_network`: its network is that of the session's other commands. `apart` says why it isn't, although
    that was wanted, as the end of a sentence.
    """

    argv: Argv
    environ: Mapping[str, str]
    descriptors: tuple[int, ...] = ()
    confine: Callable[[], None] | None = None
    wrapped: bool = False
    hidden: tuple[Path, ...] = ()
    shares_network: bool = False
    apart: str = ""


SETTINGS: Final = "settings"
"""Name of the folder with the user's git settings, and `CONFIG` of the file in it."""
CONFIG: Final = "config"
PARTS_OF_GIT: Final = "parts"
"""Name of the folder in `ShownGit.programs` with the programs that git starts, `git` itself among them."""
SHOWN_AS_THEY_ARE: Final = ("hooks", "modules")
"""Folders of a repository that commands see unchanged and read-only, even in a shadow."""


class ShownGit(Struct, frozen=True, kw_only=True):
    """The repository of the workspace as a command finds it, with `place` None if there is none.

    `unborn` is a folder that it finds, and may write, at the place of a missing `.git`; None: nothing can be
    made there. `shadow` is the folder that it finds in the place of the repository, and may write; None: it
    finds the repository itself, to read. `settings` is a folder with the user's settings, which git reads as
    those of the system. `programs` is a folder with a program `git` that works in the shadow, for sandboxes
    that can't mount.
    """

    place: GitPlace | None
    shadow: Path | None
    settings: Path
    programs: Path
    unborn: Path | None = None


class GitSource(Protocol):
    """Shows the repository of a workspace to one command."""

    def shown(self, hidden: Sequence[Path], *, writes: bool) -> AbstractContextManager[ShownGit | None]:
        """The repository, as long as the command runs; None without git. `hidden` are the files that it
        can't read. Blocks."""
        ...


class Terms(Struct, frozen=True, kw_only=True):
    """The rights of one command, more or less than the policy.

    Without `writes` the whole workspace is read-only, and the command's home and tmp are deleted after it;
    else they last as long as the program. Secrets in the workspace are hidden, except those in `reveals`
    (absolute paths of files and folders), and except files that are exactly as git has them unless it
    `hides_tracked`.

    `listener_to` is the descriptor of a socket over which the command's own network passes out the proxy's
    listening socket; None: there is no proxy. With `shares_network` its network is that of the session's
    other commands, in a sandbox that can do so and where the system allows it. With `connects` it may connect
    to everything, in a sandbox without its own network.

    `git` shows the repository to the command; None: it sees the real `.git`, read-only.
    """

    writes: bool = True
    reveals: tuple[Path, ...] = ()
    hides_tracked: bool = False
    listener_to: int | None = None
    shares_network: bool = False
    connects: bool = False
    git: GitSource | None = None

    def shown_git(self, hidden: Sequence[Path]) -> AbstractContextManager[ShownGit | None]:
        """The repository for the command."""
        return self.git.shown(hidden, writes=self.writes) if self.git else nullcontext()


ORDINARY: Final = Terms()


class Sandbox(Protocol):
    """One way to enforce a policy for commands."""

    name: str
    """Its name for people."""
    objects_of_git: Path | None
    """The path at which commands find a repository's objects when a shadow is mounted over it. None: the
    real path, since this sandbox can't mount."""
    has_own_network: bool
    """Whether commands have their own, isolated network, so that they can get a proxy in it."""

    @property
    def policy(self) -> Policy:
        """The policy for its commands."""
        ...

    def wrap(
        self, argv: Argv, environ: Mapping[str, str], terms: Terms = ORDINARY
    ) -> AbstractContextManager[Launch]:
        """How to start a command; leave the context once it has ended. Reads the disk.

        Raises:
            OSError: a resource that it needs is missing.
        """
        ...


def require_no_links(policy: Policy) -> None:
    """Raises OSError if a protected name, or a folder on the way to it, is a link: a link can't be protected
    from being replaced."""
    for protected in policy.protected:
        for path in (protected, *protected.parents):
            if path.is_relative_to(policy.workspace) and path.is_symlink():
                name = path.relative_to(policy.workspace)
                what_to_do = "put a folder in its place, or start with --no-sandbox"
                raise OSError(None, f"{name} is a link, which no sandbox can protect: {what_to_do}")


def confined_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without variables that lead to folders missing inside."""
    return {name: value for name, value in environ.items() if name not in ("TMPDIR", "XDG_RUNTIME_DIR")}


def environment_of(git: ShownGit, environ: Mapping[str, str]) -> dict[str, str]:
    """The variables with which git finds the shadow where nothing can be mounted."""
    found = {"GIT_CONFIG_SYSTEM": str(git.settings / CONFIG)}
    if git.shadow:
        found["PATH"] = f"{git.programs}:{environ.get('PATH', '')}"
        found["GIT_EXEC_PATH"] = str(git.programs / PARTS_OF_GIT)  # git puts it first in the PATH of hooks
    return found


@asynccontextmanager
async def in_thread(wrapping: AbstractContextManager[Entered]) -> AsyncIterator[Entered]:
    """Enter and leave the context in a thread. Leaving always completes, however often the caller is
    cancelled."""
    entering = asyncio.create_task(asyncio.to_thread(wrapping.__enter__))

    async def leave() -> None:
        await asyncio.wait({entering})
        if entering.exception() is None:
            await asyncio.to_thread(wrapping.__exit__, None, None, None)

    try:
        yield await asyncio.shield(entering)
    finally:
        await to_the_end(leave())
