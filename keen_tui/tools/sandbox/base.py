"""What runs a command so that it reaches only what the policy says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from pathlib import Path
from typing import Final, Protocol, TypeVar

from msgspec import Struct

from keen_tui.tools.sandbox.policy import Policy

Argv = tuple[str, ...]
Entered = TypeVar("Entered")


class Launch(Struct, frozen=True, kw_only=True):
    """How a process is started.

    `descriptors` are those it inherits. `confine` is called in the thread that starts it, with
    `close_fds=False`, and binds that thread, for good, and with it the process; None: `argv` sees to
    everything. `wrapped` tells that the process itself only waits for the command. `hidden` are the files
    of the workspace that it can't read.
    """

    argv: Argv
    environ: Mapping[str, str]
    descriptors: tuple[int, ...] = ()
    confine: Callable[[], None] | None = None
    wrapped: bool = False
    hidden: tuple[Path, ...] = ()


class Terms(Struct, frozen=True, kw_only=True):
    """What one command may do, beyond or short of the policy.

    Without `writes` all of the workspace is read-only, and its home and tmp are thrown away after it; else
    they last as long as the program. Secrets of the workspace are hidden, but those in `reveals`, files and
    folders as whole paths, and unless it `hides_tracked` files that are as git has them.

    `listener_to` is the descriptor of a socket over which the command's own network hands out the socket
    that its proxy listens on; None: there is no proxy. With `connects` it may connect to everything, in a
    sandbox without a network of its own.

    `git`: it is git itself, and nothing that the model wrote. It may write `.git`, except for what makes code
    run later, and its home is thrown away too; it is the user's by name, with nothing in it but the files
    that are `readable`. `alone`: it can start no other program.
    """

    writes: bool = True
    reveals: tuple[Path, ...] = ()
    hides_tracked: bool = False
    listener_to: int | None = None
    connects: bool = False
    git: bool = False
    alone: bool = False
    readable: tuple[Path, ...] = ()

    @property
    def lasting(self) -> bool:
        """Whether its home and tmp last as long as the program."""
        return self.writes and not self.git


ORDINARY: Final = Terms()


class Sandbox(Protocol):
    """One way to hold commands to a policy."""

    name: str
    """In a word, for a person."""
    has_own_network: bool
    """Whether commands have a network of their own, which leads nowhere: they can be given a proxy there."""

    def wrap(
        self, argv: Argv, environ: Mapping[str, str], terms: Terms = ORDINARY
    ) -> AbstractContextManager[Launch]:
        """How a command is started; leave the context once it has ended. Looks at the disk.

        Raises:
            OSError: what it needs can't be had.
        """
        ...


def require_no_links(policy: Policy) -> None:
    """Raises OSError where a protected name, or a folder on the way to it, is a link: a link can't be kept
    from being replaced."""
    for protected in policy.protected:
        for path in (protected, *protected.parents):
            if path.is_relative_to(policy.workspace) and path.is_symlink():
                name = path.relative_to(policy.workspace)
                what_to_do = "put a folder in its place, or start with --no-sandbox"
                raise OSError(None, f"{name} is a link, which no sandbox can protect: {what_to_do}")


def confined_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without what leads to folders that are not there inside."""
    return {name: value for name, value in environ.items() if name not in ("TMPDIR", "XDG_RUNTIME_DIR")}


@asynccontextmanager
async def in_thread(wrapping: AbstractContextManager[Entered]) -> AsyncIterator[Entered]:
    """Enter and leave it in a thread. It is left also when whoever enters it is cancelled meanwhile."""
    entering = asyncio.create_task(asyncio.to_thread(wrapping.__enter__))
    try:
        yield await asyncio.shield(entering)
    finally:
        await asyncio.wait({entering})
        if entering.exception() is None:
            await asyncio.to_thread(wrapping.__exit__, None, None, None)
