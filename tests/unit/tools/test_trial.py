"""A command that runs read-only first has no effect, whatever it tries; what a failed write looks like."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.domain.messages import ToolResult
from keen_tui.tools.builtin.bash import Bash
from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.process.command_result import command_result
from keen_tui.tools.process.process import Ended
from keen_tui.tools.sandbox.probe import ProbeResult, SandboxFinder
from keen_tui.tools.sandbox.trial import unfinished
from keen_tui.tools.shell.mentions import mentioned_commands
from tests.support.jail import SANDBOXES, Jail
from tests.support.processes import called_with

ATTACKS = r"""
python3 -c "open('src/new', 'w')"
python3 -c "import os; os.remove('src/file')"
python3 -c "import os; os.rename('src', 'gone')"
python3 -c "import os; os.symlink('/etc', 'src/link')"
python3 -c "import os; os.mkdir('.vscode'); open('.vscode/tasks.json', 'w')"
python3 -c "import os; os.chmod('src/file', 0o600)"
python3 -c "import os; os.utime('src/file', (1, 1))"
python3 -c "import os; os.truncate('src/file', 0)"
python3 -c "open(r'OUTSIDE/file', 'w').write('evil')"
python3 -c "open(r'HOME/.bashrc', 'w').write('evil')"
python3 -c "open(r'HOME/.ssh/id_ed25519').read() and print('LEAK')"
python3 -c "open('.e' + 'nv').read() and print('LEAK')"
python3 -c "import ctypes; ctypes.CDLL(None).mount(b'none', b'src', b'tmpfs', 0, 0); open('src/x', 'w')"
python3 -c "import os; os.system('mount -o remount,rw . && echo x > new; umount .; echo x > new')"
python3 -c "import os; f = os.open('src/file', 0); open(f'/proc/self/fd/{f}', 'w').write('evil')"
python3 -c "import os; os.link('src/file', 'src/hard'); open('src/hard', 'w')"
python3 -c "import os; os.mkfifo('src/pipe')"
python3 -c "import os; os.spawnlp(1, 'setsid', 'setsid', 'sh', '-c', 'sleep 3; echo stray-of-trial')"
python3 -c "import os; open('/proc/1/root' + os.getcwd() + '/new', 'w')"
""".strip().split("\n")


def all_of(folder: Path) -> list[tuple[str, int, float, bytes]]:
    """Everything in a folder, with modes, times and contents."""
    return [
        (str(path), path.lstat().st_mode, path.lstat().st_mtime, path.read_bytes() if path.is_file() else b"")
        for path in sorted(folder.rglob("*"))
        if "scratch" not in path.parts  # where our own folders for commands are
    ]


@pytest.mark.parametrize("name", SANDBOXES)
async def test_nothing_that_it_tries_has_an_effect(name: str, tmp_path: Path) -> None:
    jail = Jail(name, tmp_path)
    (jail.workspace / "src").mkdir()
    (jail.workspace / "src/file").write_text("before\n")
    (jail.workspace / ".env").write_text("KEY=1\n")
    before = all_of(tmp_path)
    bash = Bash(Workspace(jail.workspace), SandboxFinder(lambda: ProbeResult(sandbox=jail.sandbox)))
    tried = 0
    for attack in ATTACKS:
        command = attack.replace("OUTSIDE", str(jail.outside)).replace("HOME", str(jail.home))
        call = await bash.prepare({"command": command})
        if call.trial is None:  # the test's own folder may be one of the system, or name a secret
            continue
        tried += 1
        assert "LEAK" not in (await call.trial.run(lambda *_: None)).text, command
        assert all_of(tmp_path) == before, command
    assert called_with("stray-of-trial") == []
    assert tried >= len(ATTACKS) - 2


def result(command: str, output: str, code: int) -> ToolResult:
    return command_result(command, output, Ended(code=code, timed_out=code == 124), 120)


@pytest.mark.parametrize(
    ("command", "output", "code", "reason"),
    [
        ("make", "ld: cannot open output file build/x: Read-only file system", 2, "write build/x"),
        ("x", "OSError: [Errno 30] Read-only file system: 'out/a b.txt'", 1, "write out/a b.txt"),
        ("x", "Error: EROFS: read-only file system, mkdir 'dist'", 1, "write dist"),
        ("x", "x.py:1: PytestCacheWarning: Read-only file system: 'a'\n1 passed", 0, ""),
        ("x | true", "touch: cannot touch 'a': Read-only file system", 0, "write a"),
        ("git stash", "", 1, "without a message"),
        ("grep -q a b", "", 1, ""),
        ("test -f b", "", 1, ""),
        ("curl -s example.org", "", 6, "network"),
        ("pytest", "1 failed", 1, ""),
        ("x", "", 124, "timed out"),
        ("x", "fine", 0, ""),
    ],
)
def test_why_reading_was_not_enough(command: str, output: str, code: int, reason: str) -> None:
    said = unfinished("bubblewrap", result(command, output, code), mentioned_commands(command))
    assert reason in said and bool(reason) == bool(said)
    assert "the sandbox blocks" not in said, "with a yes it may have the network"
