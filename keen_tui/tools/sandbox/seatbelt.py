"""Turns the policy into a profile for macOS, which `sandbox-exec` enforces.

The profile is tested as text only. Later rules beat earlier ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
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
from keen_tui.tools.sandbox.policy import Policy
from keen_tui.tools.sandbox.scratch import Folders, scratch_in
from keen_tui.tools.sandbox.secret_files import SecretFiles

PROGRAM = "/usr/bin/sandbox-exec"

_SYSTEM = (
    "/System /Library /private/etc /private/var/db/timezone /private/var/db/dyld /private/var/select "
    "/Applications/Xcode.app /dev /AppleInternal /cores"
)
"""Paths that programs on macOS need besides the folders of the policy."""

_BEGINNING = """\
(version 1)
(deny default)
(allow process-fork)
(allow process-exec)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))
(allow ipc-posix-sem)
(allow pseudo-tty)
(allow file-read-metadata)
(allow file-read* (literal "/"))
(allow file-ioctl (literal "/dev/null") (literal "/dev/zero"))
(allow file-write* (literal "/dev/null") (literal "/dev/zero"))
"""


class Seatbelt:
    """Runs commands with sandbox-exec."""

    name = "seatbelt"
    objects_of_git: Path | None = None
    has_own_network = False

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._scratch = scratch_in(policy.scratch)
        self._secrets = SecretFiles(policy)

    @contextmanager
    def wrap(self, argv: Argv, environ: Mapping[str, str], terms: Terms = ORDINARY) -> Iterator[Launch]:
        """How to start the command; leave the context once it has ended.

        Raises:
            OSError: its home can't be created, or a protected name is a link.
        """
        require_no_links(self.policy)
        secrets = self._secrets.hidden(terms)
        with (
            self._scratch.folders(lasting=terms.writes) as folders,
            terms.shown_git(secrets) as git,
        ):
            own = {"HOME": str(folders.home), "TMPDIR": str(folders.temporary)}
            own |= environment_of(git, environ) if git else {}
            yield Launch(
                argv=(PROGRAM, "-p", profile(self.policy, folders, terms, secrets, git), *argv),
                environ=confined_environment(environ) | own,
                hidden=secrets,
            )


def profile(
    policy: Policy,
    folders: Folders,
    terms: Terms = ORDINARY,
    secrets: Sequence[Path] = (),
    git: ShownGit | None = None,
) -> str:
    """The profile. The `folders` are inside hidden paths; `secrets` are hidden too. It allows no network and
    no socket of another program."""
    reading = "allow file-read* file-test-existence file-map-executable"
    own, around = (folders.home, folders.temporary), policy.hidden_around
    hidden = tuple(path for path in policy.hidden if path not in around)
    rules = (
        (reading, (*policy.readable, *map(Path, _SYSTEM.split()))),
        *([("deny file-read* file-write*", around)] if around else []),
        (reading, tuple(dict.fromkeys((policy.top, policy.workspace)))),
        *([("allow file-write*", (policy.workspace,))] if terms.writes else []),
        ("deny file-write*", (*policy.protected, *policy.protected_if_there)),
        ("deny file-read* file-write*", (*hidden, *secrets)),
        *_for_skills(policy, reading),
        (f"{reading} file-write*", own),
        *(_for_git(git, reading) if git else ()),
    )
    return _BEGINNING + "".join(_rule(what, paths) for what, paths in rules)


def _for_skills(policy: Policy, reading: str) -> Iterator[tuple[str, Sequence[Path]]]:
    if policy.skills:
        yield reading, policy.skills
        skills = set(policy.skills)
        if hidden := tuple(path for path in policy.hidden if not skills.isdisjoint(path.parents)):
            yield "deny file-read*", hidden


def _for_git(git: ShownGit, reading: str) -> Iterator[tuple[str, Sequence[Path]]]:
    yield reading, (git.settings, git.programs, *((git.place.common,) if git.place else ()))
    if git.shadow:
        yield f"{reading} file-write*", (git.shadow,)


def _rule(what: str, paths: Sequence[Path]) -> str:
    places = " ".join(f"(subpath {_quoted(path)})" for path in paths)
    return f"({what} {places})\n" if paths else f"({what})\n"


def _quoted(path: Path) -> str:
    """A path as a text of the profile: nothing in it can end the text."""
    return '"' + str(path).replace("\\", "\\\\").replace('"', '\\"') + '"'
