"""Confines commands with Landlock and a filter of system calls, for systems without bubblewrap.

Both permanently bind one thread and every process that it starts. So each command is started by its own
thread, which is bound first: no helper program is needed. Landlock has no exceptions inside a grant, and
can't name missing entries. So it grants the folders in the workspace, each one separately, but not the
workspace itself; the broker of the command makes entries there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from functools import cached_property, partial
from pathlib import Path

from keen_tui.tools.sandbox.base import (
    ORDINARY,
    Argv,
    Launch,
    ShownGit,
    Terms,
    confined_environment,
    environment_of,
    require_no_links,
)
from keen_tui.tools.sandbox.broker.broker import Broker
from keen_tui.tools.sandbox.broker.file_calls import notifying_filter
from keen_tui.tools.sandbox.landlock_rules import (
    READ,
    READ_DIR,
    READ_FILE,
    WORK,
    WRITE_FILE,
    Brokered,
    PathGrant,
    confine,
)
from keen_tui.tools.sandbox.policy import Policy
from keen_tui.tools.sandbox.scratch import Folders, scratch_in
from keen_tui.tools.sandbox.seccomp import AF_INET, AF_INET6, filter_for
from keen_tui.tools.sandbox.secret_files import SecretFiles
from keen_tui.tools.sandbox.workspace_grants import Listings, WorkspaceGrants, readable

_DEVICES = tuple(Path("/dev", name) for name in ("null", "zero", "full", "random", "urandom"))

_TOOL_HOMES: Mapping[str, str] = {
    "CARGO_HOME": ".cargo",
    "RUSTUP_HOME": ".rustup",
    "PYENV_ROOT": ".pyenv",
    "NVM_DIR": ".nvm",
    "GOPATH": "go",
}
"""Places where programs look in the real home although HOME is another one."""


class Landlock:
    """Runs commands for which the kernel itself enforces the policy."""

    name = "landlock"
    objects_of_git: Path | None = None
    has_own_network = False

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._machine = os.uname().machine
        self._filter = filter_for(self._machine)
        self._read_only_filter = filter_for(
            self._machine, keeps_attributes=True
        )  # Landlock has no such right
        self._connecting_filter = filter_for(self._machine, families=(AF_INET, AF_INET6))
        self._scratch = scratch_in(policy.scratch)
        self._secrets = SecretFiles(policy)
        self._listings = Listings()

    @contextmanager
    def wrap(self, argv: Argv, environ: Mapping[str, str], terms: Terms = ORDINARY) -> Iterator[Launch]:
        """How the command is started; leave the context once it has ended.

        Raises:
            OSError: no folder for its home, no thread for its broker, or a protected name is a link.
        """
        require_no_links(self.policy)
        secrets = self._secrets.hidden(terms)
        ground = WorkspaceGrants(self.policy, secrets, self._listings)
        with (
            self._scratch.folders(lasting=terms.writes) as folders,
            self._broker(ground) if terms.writes else nullcontext() as brokered,
            terms.shown_git(secrets) as git,
        ):
            inside = ground.work() if terms.writes else ground.reading()
            yield Launch(
                argv=argv,
                environ=self._environ(environ, folders) | (environment_of(git, environ) if git else {}),
                confine=partial(
                    confine,
                    [
                        *self._grants(folders, terms),
                        *self._of_git(git, secrets),
                        *inside,
                    ],
                    self._filter_for(terms),
                    brokered,
                    connects=terms.connects,
                ),
                hidden=secrets,
            )

    @contextmanager
    def _broker(self, ground: WorkspaceGrants) -> Iterator[Brokered]:
        with closing(Broker(ground.closed, self._machine)) as broker:
            yield Brokered(broker, notifying_filter(self._machine, reads=bool(ground.hidden)))

    def _grants(self, folders: Folders, terms: Terms) -> list[PathGrant]:
        names = [(Path(os.path.realpath("/etc/resolv.conf")), READ)] if terms.connects else []
        return [(folders.home, WORK), (folders.temporary, WORK), *names, *self._outside]

    def _of_git(self, git: ShownGit | None, secrets: Sequence[Path]) -> Iterator[PathGrant]:
        """The grants for the repository, and for the work tree around the workspace."""
        policy = self.policy
        if policy.top != policy.workspace:
            yield from readable(policy.top, frozenset((*policy.hidden, *secrets)))
        if git is None:
            return
        common = (git.place.common,) if git.place else ()
        yield from ((path, READ) for path in (git.settings, git.programs, *common))
        if git.shadow:
            yield git.shadow, WORK

    def _filter_for(self, terms: Terms) -> bytes:
        if not terms.writes:
            return self._read_only_filter
        return self._connecting_filter if terms.connects else self._filter

    @cached_property
    def _outside(self) -> tuple[PathGrant, ...]:
        """The grants outside the workspace. Computed once, because it takes longer than a command should."""
        return tuple(_outside_workspace(self.policy))

    def _environ(self, environ: Mapping[str, str], folders: Folders) -> dict[str, str]:
        """The environment with the command's folders. Landlock can't redirect a path, so /tmp itself isn't
        among them."""
        home = self.policy.home
        tools = {name: str(home / folder) for name, folder in _TOOL_HOMES.items() if (home / folder).exists()}
        own = {"HOME": str(folders.home), "TMPDIR": str(folders.temporary)}
        return tools | confined_environment(environ) | own


def _outside_workspace(policy: Policy) -> Iterator[PathGrant]:
    for device in _DEVICES:
        yield device, READ_FILE | WRITE_FILE
    yield Path("/proc"), READ_FILE | READ_DIR
    for path in (*policy.readable, *policy.skills):
        yield from readable(Path(os.path.realpath(path)), frozenset(policy.hidden))
