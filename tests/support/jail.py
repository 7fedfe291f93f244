"""bash in a sandbox, in a workspace beside a home with private things."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from keen_tui.domain.messages import ToolResult
from keen_tui.system.child_environment import child_environment
from keen_tui.system.executables import find_program
from keen_tui.tools.builtin.bash import Bash
from keen_tui.tools.files.git_place import GitPlace
from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.sandbox.base import Sandbox, Terms
from keen_tui.tools.sandbox.bubblewrap import Bubblewrap
from keen_tui.tools.sandbox.landlock import Landlock
from keen_tui.tools.sandbox.landlock_rules import landlock_version
from keen_tui.tools.sandbox.policy import Policy, policy_for
from keen_tui.tools.sandbox.probe import (
    ProbeResult,
    SandboxFinder,
    bundled_bubblewrap,
    find_sandbox,
    problem_of,
    started,
)
from keen_tui.tools.sandbox.scratch import FOLDER

PYTHON = os.path.realpath(sys.executable)


def _bubblewrap(policy: Policy) -> Sandbox | str:
    return _working(find_program("bwrap") or "", policy)


def _bundled_bubblewrap(policy: Policy) -> Sandbox | str:
    return _working(bundled_bubblewrap() or "", policy)


def _working(program: str, policy: Policy) -> Sandbox | str:
    if not program:
        return "this bubblewrap is not installed"
    bare = (program, "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "true")
    tried = subprocess.run(bare, capture_output=True, text=True)
    return tried.stderr.strip() if tried.returncode else Bubblewrap(program, policy)


def _landlock(policy: Policy) -> Sandbox | str:
    return Landlock(policy) if landlock_version() else "this kernel has no Landlock"


SANDBOXES: Mapping[str, Callable[[Policy], Sandbox | str]] = {
    "bubblewrap": _bubblewrap,
    "bundled bubblewrap": _bundled_bubblewrap,
    "landlock": _landlock,
}


class FakeSandbox:
    """What sandboxes that confine nothing have in common."""

    has_own_network = False
    objects_of_git: Path | None = None

    @property
    def policy(self) -> Policy:
        return policy_for(Path("/nonexistent/work"), Path("/nonexistent/home"), (), os.environ)


@cache
def sandbox_of_program() -> str:
    """The name of the sandbox that the program finds on this machine; "" for none."""
    policy = policy_for(Path("/nonexistent/work"), Path("/nonexistent/home"), (), os.environ)
    found = find_sandbox(policy, os.environ).sandbox
    return found.name if found else ""


def flags_of_auto() -> tuple[str, ...]:
    """The flags that `--mode auto` needs on this machine: none if there is a sandbox for commands."""
    return () if sandbox_of_program() else ("--no-sandbox",)


class Jail:
    """A workspace, a home and a folder outside both; `name` is the sandbox of its commands.

    Skips the test with the reason if this machine doesn't have that sandbox.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self.workspace, self.home, self.outside = (folder / each for each in ("work", "home", "outside"))
        self.own = self.home / ".config" / "keen-tui"
        for each in (self.workspace, self.home / ".ssh", self.own, self.outside):
            each.mkdir(parents=True)
        (self.home / ".ssh" / "id_ed25519").write_text("TOP SECRET\n")
        (self.own / "settings.toml").write_text('mode = "ask"\n')
        (self.own / "session.jsonl").write_text("TOP SECRET\n")
        (self.outside / "file").write_text("before\n")
        environ = child_environment(os.environ)
        environ["PATH"] = f"{Path(PYTHON).parent}:{environ['PATH']}"
        self.policy = policy_for(self.workspace, self.home, (self.own,), environ, scratch=self.own / FOLDER)
        self._name = name
        self.sandbox = self._made()

    def hide(self, path: Path) -> None:
        """Hide the path from later commands."""
        self.policy = replace(self.policy, hidden=(*self.policy.hidden, path))
        self.sandbox = self._made()

    def show_skill(self, path: Path, *secrets: Path) -> None:
        """Let later commands read the folder of a skill, except the secrets in it."""
        hidden = (*self.policy.hidden, *secrets)
        self.policy = replace(self.policy, skills=(path,), hidden=hidden)
        self.sandbox = self._made()

    def move(self, workspace: Path, git: GitPlace | None) -> None:
        """Run later commands in another workspace, with that repository."""
        self.workspace = workspace
        self.policy = replace(self.policy.moved_to(workspace), git=git)
        self.sandbox = self._made()

    def protect(self, path: Path) -> None:
        """Make the path read-only for later commands, as if Keen were loaded from there."""
        self.policy = replace(self.policy, protected=(*self.policy.protected, path))
        self.sandbox = self._made()

    def _made(self) -> Sandbox:
        made = SANDBOXES[self._name](self.policy)
        if isinstance(made, str):
            pytest.skip(made)
        assert problem_of(made, self.policy, os.environ) == ""
        return made

    async def __call__(self, command: str, timeout: int = 180) -> ToolResult:
        """Run a command in the sandbox."""
        bash = Bash(Workspace(self.workspace), SandboxFinder(lambda: ProbeResult(sandbox=self.sandbox)))
        prepared = await bash.prepare({"command": command, "timeout": timeout})
        assert prepared.access.sandboxed
        return await prepared.run(lambda *_: None)

    def ends_with(self, command: str, terms: Terms) -> int:
        """Run a command on these terms; returns its exit code."""
        with self.sandbox.wrap(("/bin/sh", "-c", command), child_environment(os.environ), terms) as launch:
            return started(launch, self.workspace).returncode

    async def python(self, program: str, *arguments: str) -> ToolResult:
        """Run a Python program in the sandbox."""
        script = self.workspace / "probe_program.py"
        script.write_text(program)
        return await self(" ".join((PYTHON, "-S", script.name, *arguments)))
