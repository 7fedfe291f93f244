"""The contract with a sandbox: it runs a command so that it reaches only what the policy allows."""

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


class Terms(Struct, frozen=True, kw_only=True):
    """What one command may do, more or less than the policy.

    Without `writes` the whole workspace is read-only, and the command's home and tmp are deleted after it;
    else they last as long as the program. Secrets in the workspace are hidden, except those in `reveals`
    (absolute paths of files and folders), and except files that are exactly as git has them unless it
    `hides_tracked`.

    `listener_to` is the descriptor of a socket over which the command's own network passes out the proxy's
    listening socket; None: there is no proxy. With `shares_network` its network is that of the session's
    other commands, in a sandbox that can do so and where the system allows it. With `connects` it may connect
    to everything, in a sandbox without its own network.

    `git`: the command is git itself, and nothing that the model wrote. It may write `.git`, except for
    entries that run code later. Its home has the path of the user's, contains only the `readable` files, and
    is deleted too. `alone`: it can start no other program.
    """

    writes: bool = True
    reveals: tuple[Path, ...] = ()
    hides_tracked: bool = False
    listener_to: int | None = None
    shares_network: bool = False
    connects: bool = False
    git: bool = False
    alone: bool = False
    readable: tuple[Path, ...] = ()

    @property
    def lasting(self) -> bool:
        """Whether the command's home and tmp last as long as the program."""
        return self.writes and not self.git


ORDINARY: Final = Terms()


class Sandbox(Protocol):
    """One way to enforce a policy for commands."""

    name: str
    """Its name for people."""
    has_own_network: bool
    """Whether commands have their own, isolated network, so that they can get a proxy in it."""

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


@asynccontextmanager
async def in_thread(wrapping: AbstractContextManager[Entered]) -> AsyncIterator[Entered]:
    """Enter and leave the context in a thread. It is left even if the caller is cancelled while entering."""
    entering = asyncio.create_task(asyncio.to_thread(wrapping.__enter__))
    try:
        yield await asyncio.shield(entering)
    finally:
        await asyncio.wait({entering})
        if entering.exception() is None:
            await asyncio.to_thread(wrapping.__exit__, None, None, None)
