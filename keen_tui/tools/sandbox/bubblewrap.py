"""Runs commands in their own namespaces with bubblewrap, behind a filter of system calls."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path

from keen_tui.tools.network.socket_handover import ANY_PORT, PORT, python_folders, starter
from keen_tui.tools.sandbox.base import (
    CONFIG,
    ORDINARY,
    SETTINGS,
    SHOWN_AS_THEY_ARE,
    Argv,
    Launch,
    ShownGit,
    Terms,
    confined_environment,
    require_no_links,
)
from keen_tui.tools.sandbox.placeholders import Placeholders
from keen_tui.tools.sandbox.policy import Policy
from keen_tui.tools.sandbox.scratch import Folders, scratch_in
from keen_tui.tools.sandbox.seccomp import AF_INET, AF_INET6, filter_for
from keen_tui.tools.sandbox.secret_files import SecretFiles
from keen_tui.tools.sandbox.session_network import SessionNetwork

_GIT = Path("/run/keen-git")
_SETTINGS = _GIT / SETTINGS


class Bubblewrap:
    """Runs commands with `program`, the path of bwrap."""

    name = "bubblewrap"
    objects_of_git: Path | None = _GIT / "objects"
    has_own_network = True

    def __init__(self, program: str, policy: Policy) -> None:
        self._program = program
        self.policy = policy
        self._placeholders = Placeholders([policy.workspace / ".git"])
        self._scratch = scratch_in(policy.scratch)
        self._secrets = SecretFiles(policy)
        self._network = SessionNetwork(program)
        # Its network is isolated: localhost there belongs to the command, or to those of the session.
        # Processes and System V objects belong to the command.
        self._filter = filter_for(os.uname().machine, families=(AF_INET, AF_INET6), among_others=False)

    @contextmanager
    def wrap(self, argv: Argv, environ: Mapping[str, str], terms: Terms = ORDINARY) -> Iterator[Launch]:
        """How to start the command; leave the context once it has ended.

        Raises:
            OSError: a resource that it needs is missing, or a protected name is a link.
        """
        require_no_links(self.policy)
        entry = self._network.entry() if terms.shares_network else None
        port = ANY_PORT if entry else PORT
        needed = partial(_needed, self.policy)
        scratch = self._scratch.folders(lasting=terms.writes, needed=needed)
        secrets = self._secrets.hidden(terms)
        standing = self._placeholders.standing() if terms.writes else nullcontext(())
        with (
            standing as missing,
            scratch as folders,
            _in_memory(self._filter) as descriptor,
            _empty_file(secrets) as empty,
            terms.shown_git(secrets) as git,
        ):
            yield Launch(
                argv=(
                    *(entry.argv if entry else ()),
                    self._program,
                    *arguments(self.policy, folders, missing, terms, secrets, git),
                    *(("--share-net",) if entry else ()),
                    *_emptied(secrets, empty),
                    *("--remount-ro", "/"),
                    *("--seccomp", str(descriptor), "--"),
                    *(starter(terms.listener_to, port) if terms.listener_to is not None else ()),
                    *argv,
                ),
                environ=confined_environment(environ)
                | {"HOME": str(self.policy.home)}
                | ({"GIT_CONFIG_SYSTEM": str(_SETTINGS / CONFIG)} if git else {}),
                descriptors=(
                    *(each for each in (descriptor, terms.listener_to) if each is not None),
                    *(entry.descriptors if entry else ()),
                ),
                wrapped=True,
                hidden=secrets,
                shares_network=entry is not None,
                apart=self._network.problem if terms.shares_network else "",
            )


def arguments(
    policy: Policy,
    folders: Folders,
    missing: Sequence[Path],
    terms: Terms = ORDINARY,
    secrets: Sequence[Path] = (),
    git: ShownGit | None = None,
) -> list[str]:
    """The arguments of bwrap that follow from the policy and the existing files. Later mounts cover earlier
    ones. `missing` are protected names with a placeholder, `secrets` are covered afterwards."""
    workspace = str(policy.workspace)
    mounts = [*_bases(), *_scratch(policy, folders), *_readable(policy)]
    mounts += _of_starter(policy) if terms.listener_to is not None else ()
    mounts += _hidden(policy, set(policy.readable))
    mounts += _skills(policy)
    mounts += _read_only(policy.top) if policy.top != policy.workspace else ()
    mounts += ["--bind" if terms.writes else "--ro-bind", workspace, workspace]
    mounts += _protected(policy, missing, secrets) if terms.writes else ()
    mounts += _git(policy, git) if git else ()
    mounts += _hidden(policy, {policy.workspace, policy.top})
    return ["--unshare-all", "--die-with-parent", "--cap-drop", "ALL", *mounts, "--chdir", workspace]


def _bases() -> list[str]:
    scratch = [("1777", "/var/tmp"), ("0755", "/run")]
    folders = [word for mode, path in scratch for word in ("--perms", mode, "--tmpfs", path)]
    # Even without capabilities, root owns the kernel's settings in /proc/sys, and bwrap leaves those
    # writable.
    return ["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev", *folders]


def _scratch(policy: Policy, folders: Folders) -> Iterator[str]:
    """/tmp and the home; one may be inside the other. The folders in them that lead to other mounts are
    mounted on themselves. Otherwise a command could replace one by a link, which the next mount would follow
    out of the sandbox."""
    for place, own in _places(policy, folders):
        yield from ("--bind", str(own), str(place))
        mounted = _mounted_in(policy, place)
        ways = {way for path in mounted for way in path.parents if place in way.parents}
        for way in sorted(ways, key=lambda way: len(way.parts)):
            yield from ("--bind", str(own / way.relative_to(place)), str(way))


def _needed(policy: Policy, folders: Folders) -> Iterator[Path]:
    """The folders in the scratch folders that are mount points."""
    for place, own in _places(policy, folders):
        yield from (own / path.relative_to(place) for path in _mounted_in(policy, place))


def _places(policy: Policy, folders: Folders) -> list[tuple[Path, Path]]:
    places = {Path("/tmp"): folders.temporary, policy.home: folders.home}
    return sorted(places.items(), key=lambda each: len(each[0].parts))


def _mounted_in(policy: Policy, place: Path) -> set[Path]:
    """The mounts directly in a scratch folder, not in another mount there."""
    git = {policy.git.common} if policy.git else set()
    mounted = {policy.workspace, policy.top, policy.home, *git, *_folders_of(policy)}
    inside = {path for path in mounted if place in path.parents}
    return {path for path in inside if not inside.intersection(path.parents)}


def _folders_of(policy: Policy) -> Iterator[Path]:
    """The readable folders that exist, with those of skills."""
    for path in (*policy.readable, *policy.skills):
        if os.access(path, os.R_OK) and path.is_dir():  # is_dir raises for a place that can't be looked at
            yield Path(os.path.realpath(path)) if ".." in path.parts else path


def _readable(policy: Policy) -> Iterator[str]:
    for path in _folders_of(policy):
        if path in policy.skills:
            continue
        if path.parent == Path("/") and path.is_symlink():  # /bin leads to usr/bin
            yield from ("--symlink", str(path.readlink()), str(path))
        else:
            yield from ("--ro-bind", str(path), str(path))


def _skills(policy: Policy) -> Iterator[str]:
    """The folders of skills without their hidden files. One inside a readable folder that is hidden is left
    out: nothing can be mounted where that was."""
    covered = {path for path in policy.hidden if not set(policy.readable).isdisjoint(path.parents)}
    for path in policy.skills:
        if covered.isdisjoint(path.parents):
            yield from _read_only(path)
    yield from _hidden(policy, set(policy.skills))


def _of_starter(policy: Policy) -> Iterator[str]:
    """The interpreter that opens the listener, if it isn't visible otherwise."""
    seen = {policy.top, *policy.readable}
    for path in python_folders():
        if not seen.intersection((path, *path.parents)):
            yield from ("--ro-bind", str(path), str(path))


def _protected(policy: Policy, missing: Sequence[Path], secrets: Sequence[Path]) -> Iterator[str]:
    for folder in _between(policy.workspace, (*policy.protected, *secrets)):
        yield from ("--bind", str(folder), str(folder))
    for path in policy.protected:
        yield from _covered(path) if path in missing else _read_only(path)
    for path in policy.protected_if_there:
        if not path.is_symlink():
            yield from _read_only(path)


def _git(policy: Policy, git: ShownGit) -> Iterator[str]:
    """The repository or its shadow, and with a shadow what the command may only read of the repository."""
    yield from ("--ro-bind", str(git.settings), str(_SETTINGS))
    if git.unborn:
        yield from ("--bind", str(git.unborn), str(policy.workspace / ".git"))
    if git.place is None:
        return
    common = git.place.common
    if git.shadow is None:
        yield from _read_only(common) if policy.top not in common.parents else ()
        return
    yield from ("--bind", str(git.shadow), str(common))
    yield from ("--ro-bind", str(common / "objects"), str(_GIT / "objects"))
    if (common / "lfs").is_dir():
        yield from ("--ro-bind", str(common / "lfs"), str(_GIT / "lfs"))
    for name in SHOWN_AS_THEY_ARE:
        yield from _read_only(common / name)


def _between(workspace: Path, paths: Iterable[Path]) -> list[Path]:
    """The folders between the workspace and its protected or hidden entries, outermost first. They are
    mounted on themselves, so that they can't be renamed together with the mounts in them."""
    above = {folder for path in paths for folder in path.parents}
    inside = (folder for folder in above if workspace in folder.parents and folder.is_dir())
    return sorted(inside, key=lambda folder: len(folder.parts))


def _hidden(policy: Policy, around: Set[Path]) -> Iterator[str]:
    """Hides the entries in these folders."""
    for path in policy.hidden:
        if not around.isdisjoint(path.parents) and os.access(path, os.R_OK):
            yield from _covered(path)


def _emptied(secrets: Sequence[Path], empty: str) -> Iterator[str]:
    """Makes these files look empty and read-only, and folders empty. /dev/null wouldn't do: programs could
    write there and silently lose the data."""
    for path in secrets:
        yield from _covered(path) if path.is_dir() else ("--ro-bind", empty, str(path))


@contextmanager
def _empty_file(secrets: Sequence[Path]) -> Iterator[str]:
    """The path of an empty file, as long as it is needed; "" if there is nothing to hide.

    Raises:
        OSError: it can't be created.
    """
    if not secrets:
        yield ""
        return
    with tempfile.NamedTemporaryFile(prefix="keen-sandbox-") as file:
        yield file.name


def _read_only(path: Path) -> tuple[str, ...]:
    return ("--ro-bind", str(path), str(path)) if path.exists() else ()


def _covered(path: Path) -> tuple[str, ...]:
    """Hides the content of a folder, and lets nothing be created there."""
    if path.is_dir():
        return ("--tmpfs", str(path), "--remount-ro", str(path))
    return ("--ro-bind", os.devnull, str(path))


@contextmanager
def _in_memory(content: bytes) -> Iterator[int]:
    """A descriptor from which the content can be read once."""
    descriptor = os.memfd_create("keen-seccomp")
    try:
        os.write(descriptor, content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)
