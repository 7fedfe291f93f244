"""Files that a command writes to the sandbox's own home, as if they lasted, are reported once."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from keen_tui.tools.builtin.bash import Bash
from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.sandbox.probe import ProbeResult, SandboxFinder
from tests.support.jail import Jail


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("echo x >> ~/.bashrc", ".bashrc"),
        ("git config --global user.name x", ".gitconfig"),
        (
            "mkdir -p ~/.local/lib/python3.11 ~/.ssh && touch ~/.ssh/config",
            ".local/lib/python3.11, .ssh/config",
        ),
        ("mkdir -p ~/.cache/x ~/.npm && touch ~/.cache/x/y ~/.python_history ~/.wget-hsts", ""),
        ("echo x > ~/notes.txt; cat ~/.bashrc", ""),
    ],
)
async def test_a_write_to_the_home_is_reported_once_and_offered_outside(
    jail: Jail, command: str, said: str
) -> None:
    bash = Bash(Workspace(jail.workspace), SandboxFinder(lambda: ProbeResult(sandbox=jail.sandbox)))
    for expected in (said, ""):
        prepared = await bash.prepare({"command": command})
        result = await prepared.run(lambda *_: None)
        note = f"[written only to the sandbox's own home: {expected}]"
        assert (note in result.text) == bool(expected), result.text
        assert prepared.outside
        assert (
            f"it wrote {expected} only to the sandbox's own home" in prepared.outside.reason(result)
        ) == bool(expected)
    assert not (jail.home / ".bashrc").exists()


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
async def test_a_command_that_has_committed_is_not_offered_again(jail: Jail) -> None:
    subprocess.run(("git", "init", "-q"), cwd=jail.workspace, check=True)
    bash = Bash(Workspace(jail.workspace), SandboxFinder(lambda: ProbeResult(sandbox=jail.sandbox)))
    who = "-c user.name=u -c user.email=u@example.org"
    for command, offers in (
        ("git add -N . ; echo x >> ~/.profile", True),
        (f"git {who} commit -q --allow-empty -m x; echo x >> ~/.bashrc", False),
        (f"git {who} commit -q --allow-empty -m x; echo 'Read-only file system'; exit 1", False),
    ):
        prepared = await bash.prepare({"command": command})
        result = await prepared.run(lambda *_: None)
        assert prepared.outside
        assert bool(prepared.outside.reason(result)) == offers, result.text
