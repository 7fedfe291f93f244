"""The programs of MCP servers: what they get, where they run, and that they end with Keen."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from keen_tui.domain.errors import ServerFailed
from keen_tui.settings.added.mcp_servers import McpServer
from keen_tui.subcommands.mcp_list import server_lines
from keen_tui.tools.mcp import server as mcp_server
from keen_tui.tools.mcp.link import Ears
from keen_tui.tools.mcp.sdk_link import open_link
from keen_tui.tools.mcp.server import ServerConnection, ServerNeeds
from keen_tui.tools.mcp.server_process import downloader, server_process
from keen_tui.tools.orphans.guard import guard
from keen_tui.tools.orphans.records import left_running
from keen_tui.tools.orphans.strays import can_find_strays
from keen_tui.tools.sandbox.probe import SandboxFinder, no_sandbox, sandbox_here
from tests.support.mcp import PROGRAMS
from tests.support.processes import called_with
from tests.support.waiting import until

needs_proc = pytest.mark.skipif(not can_find_strays(), reason="needs /proc")

_KILLED = """\
import asyncio, sys
from pathlib import Path
from keen_tui.settings.added.mcp_servers import McpServer
from keen_tui.tools.mcp.server_process import server_process
from keen_tui.tools.orphans.guard import guard
from keen_tui.tools.sandbox.probe import no_sandbox

async def main():
    guard().records = Path(sys.argv[2])
    server = McpServer(name="s", command="sh", args=("-c", f"echo up; setsid sleep {sys.argv[1]}; true"))
    async with server_process(server, Path("/"), no_sandbox(), {"PATH": "/usr/bin:/bin"}) as process:
        print((await process.stdout.readline()).decode(), flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


def shell(script: str, **fields: object) -> McpServer:
    return McpServer(name="s", command="sh", args=("-c", script), **fields)  # type: ignore[arg-type]


async def said(server: McpServer, root: Path, sandbox: SandboxFinder, environ: dict[str, str]) -> str:
    """What the program writes, up to its end."""
    async with server_process(server, root, sandbox, environ) as process:
        assert process.stdout and process.stdin
        process.stdin.write(b"hello\n")
        return (await process.stdout.read()).decode()


async def test_it_reads_its_input_from_the_first_byte_and_gets_no_key(tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "OPENAI_API_KEY": "secret", "TOKEN": "t"}
    server = shell("read line; echo $line; pwd; env", env={"FOR_IT": "1", "odd-name": "2"}, cwd="sub")
    (tmp_path / "sub").mkdir()
    lines = (await said(server, tmp_path, no_sandbox(), environ)).splitlines()
    assert lines[:2] == ["hello", str(tmp_path / "sub")]
    names = {line.partition("=")[0] for line in lines[2:]}
    assert {"HOME", "FOR_IT"} <= names
    assert not {"OPENAI_API_KEY", "TOKEN"} & names


@pytest.mark.parametrize(
    ("server", "words"),
    [
        (McpServer(name="s"), "no command is configured"),
        (McpServer(name="s", command="no-such-program"), "isn't on your PATH outside the workspace"),
        (McpServer(name="s", command="true", cwd="missing"), "can't be started in"),
        (McpServer(name="s", command="true", sandbox=True), "its settings require the sandbox"),
    ],
    ids=["no command", "no program", "no folder", "no sandbox"],
)
async def test_what_cant_be_started_says_why(tmp_path: Path, server: McpServer, words: str) -> None:
    with pytest.raises(ServerFailed, match=words):
        await said(server, tmp_path, no_sandbox(), dict(os.environ))


async def test_a_program_that_ignores_the_end_is_killed_with_what_it_started(tmp_path: Path) -> None:
    number = f"{700_000 + os.getpid()}.25"
    server = shell(f"trap '' TERM; echo up; sleep {number} & while true; do sleep {number}; done")
    async with server_process(server, tmp_path, no_sandbox(), dict(os.environ)) as process:
        assert process.stdout
        assert await process.stdout.readline() == b"up\n"
    assert process.returncode is not None
    await until(lambda: not called_with(f"sleep {number}"))


async def test_a_cancelled_caller_still_ends_it(tmp_path: Path) -> None:
    number = f"{700_000 + os.getpid()}.75"
    up = asyncio.Event()

    async def hold() -> None:
        async with server_process(
            shell(f"echo up; exec sleep {number}"), tmp_path, no_sandbox(), dict(os.environ)
        ) as process:
            assert process.stdout
            await process.stdout.readline()
            up.set()
            await asyncio.sleep(600)

    task = asyncio.create_task(hold())
    await up.wait()
    task.cancel()
    await asyncio.wait({task})
    await until(lambda: not called_with(f"sleep {number}"))


@needs_proc
def test_it_ends_with_a_killed_program_and_leaves_no_record(tmp_path: Path) -> None:
    number = f"{700_000 + os.getpid()}.5"
    arguments = (sys.executable, "-c", _KILLED, number, str(tmp_path))
    with subprocess.Popen(arguments, stdout=subprocess.PIPE) as program:
        assert program.stdout
        assert program.stdout.readline() == b"up\n"
        program.send_signal(signal.SIGKILL)
        program.wait()
    asyncio.run(until(lambda: not called_with(f"sleep {number}")))
    assert left_running(tmp_path) == ()


@needs_proc
async def test_it_is_on_record_while_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard(), "records", tmp_path / "running")
    async with server_process(shell("read x; read y"), tmp_path, no_sandbox(), dict(os.environ)):
        (record,) = (tmp_path / "running").iterdir()
        assert '"command":"sh -c read x; read y"' in record.read_text()
    assert list((tmp_path / "running").iterdir()) == []


async def test_in_the_sandbox_it_sees_no_home_or_doesnt_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, workspace = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    workspace.mkdir()
    (home / "secret").write_text("of the user")
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_DATA_HOME": str(tmp_path / "data")}
    finder = sandbox_here(workspace, environ)
    found = (await finder.found()).sandbox
    server = shell("read line; echo $line; cat ~/secret; echo x > here && echo wrote", sandbox=True)
    if found is None or found.name == "Landlock":
        with pytest.raises(ServerFailed):
            await said(server, workspace, finder, environ)
        return
    assert await said(server, workspace, finder, environ) == "hello\nwrote\n"
    assert (workspace / "here").exists()


class _Counting(Ears):
    """Counts the lines of the server."""

    def __init__(self) -> None:
        self.lines = 0

    def log(self, text: str, *, is_message: bool = False) -> None:
        self.lines += 1

    def lists_changed(self) -> None:
        raise AssertionError("it says nothing of the kind")

    def ended(self, reason: str) -> None:
        pass

    async def ask(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        raise AssertionError("it asks nothing")


@pytest.mark.parametrize("descriptor", [1, 2])
async def test_a_flood_of_lines_leaves_room_for_everything_else(tmp_path: Path, descriptor: int) -> None:
    ears, most = _Counting(), 0

    async def connect() -> None:
        async with open_link(shell(f"yes nonsense >&{descriptor}"), tmp_path, no_sandbox(), ears, None):
            raise AssertionError("it speaks no protocol")

    connecting = asyncio.create_task(connect())
    while ears.lines < 50_000:
        before = ears.lines
        await asyncio.sleep(0)
        most = max(most, ears.lines - before)
    connecting.cancel()
    await asyncio.wait({connecting})
    assert most < 10


def slow_npx(folder: Path) -> Path:
    """A program called npx that starts the server `talk` once there is a file `downloaded` beside it."""
    npx = folder / "npx"
    wait = f"while ! test -e {folder}/downloaded; do sleep 0.02; done"
    npx.write_text(f"#!/bin/sh\n{wait}\nexec {sys.executable} {PROGRAMS / 'talkative.py'}\n")
    npx.chmod(0o755)
    return npx


def connected(
    server: McpServer, root: Path, told: list[str], over: list[str] | None = None
) -> ServerConnection:
    needs = ServerNeeds(root=root, sandbox=no_sandbox())
    withdrawn = [] if over is None else over
    return ServerConnection(server, needs, lambda: None, told.append, withdrawn.append)


async def test_a_server_that_is_still_downloaded_has_more_time_and_says_so(tmp_path: Path) -> None:
    told, over = list[str](), list[str]()
    command, args = str(slow_npx(tmp_path)), ("-y", "talk")
    connection = connected(
        McpServer(name="s", command=command, args=args, startup_timeout=0.1), tmp_path, told, over
    )
    connection.start()
    try:
        await until(lambda: told)
        words = "npx may still be downloading it, so Keen waits up to 300 seconds"
        assert (connection.state, connection.reason) == ("starting", words)
        assert told == [f"The MCP server s isn't ready yet: {words}."]
        assert over == []
        (tmp_path / "downloaded").touch()
        await connection.settled()
        assert (connection.state, connection.reason) == ("ready", "")
        assert over == told
    finally:
        await connection.stop()


async def test_the_list_of_servers_waits_for_a_download_and_says_so(tmp_path: Path) -> None:
    told: list[str] = []

    def tell(sentence: str) -> None:
        told.append(sentence)
        (tmp_path / "downloaded").touch()

    slow = McpServer(name="s", command=str(slow_npx(tmp_path)), startup_timeout=0.1)
    gone = McpServer(name="gone", command="no-such-program")
    needs = ServerNeeds(root=tmp_path, sandbox=no_sandbox())
    lines = await server_lines([slow, gone], needs, tell)
    assert lines[0].startswith("s      ready, ")
    assert [sentence.partition(":")[0] for sentence in told] == ["The MCP server s isn't ready yet"]


async def test_a_download_also_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_server, "DOWNLOAD_SECONDS", 0.3)
    slow = McpServer(name="s", command=str(slow_npx(tmp_path)), startup_timeout=0.1)
    connection = connected(slow, tmp_path, [])
    connection.start()
    try:
        await connection.settled()
        assert (connection.state, connection.reason) == ("failed", "it wasn't ready after 0.3 seconds")
    finally:
        await connection.stop()


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("npx -y @example/server", "npx"),
        ("/usr/local/bin/uvx server", "uvx"),
        ("uv tool run server", "uv"),
        ("npm --yes exec server", "npm"),
        ("docker run -i --rm server", "docker"),
        ("npm start", ""),
        ("python3 npx", ""),
        ("docker compose up", ""),
    ],
)
def test_programs_that_may_download_their_server_are_known(words: str, name: str) -> None:
    command, *args = words.split()
    assert downloader(McpServer(name="s", command=command, args=tuple(args))) == name
