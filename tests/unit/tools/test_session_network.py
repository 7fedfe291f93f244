"""The commands of one session reach each other's local ports; nobody else does."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from keen_tui.domain.messages import ToolResult
from keen_tui.system.child_environment import child_environment
from keen_tui.system.executables import find_program
from keen_tui.tools.background.tasks import BackgroundTasks
from keen_tui.tools.builtin.bash import Bash
from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.network.gate import HostAnswer
from keen_tui.tools.sandbox import session_network
from keen_tui.tools.sandbox.base import Terms
from keen_tui.tools.sandbox.bubblewrap import Bubblewrap
from keen_tui.tools.sandbox.command_network import NO_NETWORK, CommandNetwork
from keen_tui.tools.sandbox.probe import ProbeResult, SandboxFinder, started
from tests.support.jail import PYTHON, Jail
from tests.support.networks import ELSEWHERE, Names, Server
from tests.support.waiting import until

PORT = 8_000
SERVER = f"""\
import socket
server = socket.create_server(("127.0.0.1", {PORT}))
open("serves", "w").close()
while True:
    with server.accept()[0] as client:
        client.sendall(b"served")
"""
CLIENT = """\
import socket, sys
try:
    with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5) as client:
        print(client.recv(100).decode())
except OSError as error:
    print("refused")
"""
THROUGH = """\
import socket, sys
head = "CONNECT a.example:80 HTTP/1.1\\r\\nHost: a.example:80\\r\\n" + sys.argv[1] + "\\r\\n"
with socket.create_connection(("127.0.0.1", int(open("port").read()))) as client:
    client.sendall(head.encode())
    print(client.recv(1000).decode().partition("\\r")[0])
"""


class Commands:
    """The commands of one session, in one sandbox."""

    def __init__(self, jail: Jail, network: CommandNetwork = NO_NETWORK) -> None:
        self.tasks = BackgroundTasks()
        self.sandbox = jail.sandbox
        finder = SandboxFinder(lambda: ProbeResult(sandbox=self.sandbox))
        self._bash = Bash(Workspace(jail.workspace), finder, network=network, tasks=self.tasks)

    async def run(self, command: str, *, background: bool = False) -> ToolResult:
        """Run it where a.example is allowed, and b.example isn't."""
        prepared = await self._bash.prepare({"command": command, "background": background})

        async def decide(hosts: object) -> HostAnswer:
            return HostAnswer(allowed="a.example" in str(hosts), reason="no rule allows it")

        if prepared.network:
            prepared.network.decides(decide, lambda host, problem: None)
        return await prepared.run(lambda *_: None)


@pytest.fixture(params=["bubblewrap", "bundled bubblewrap"])
async def jail(tmp_path: Path, request: pytest.FixtureRequest) -> Jail:
    jail = Jail(request.param, tmp_path)
    network = session_network.SessionNetwork(jail.sandbox._program)  # type: ignore[attr-defined]
    if network.entry() is None:
        pytest.skip(f"commands can't share a network here: {network.problem}")
    for name, content in (("server.py", SERVER), ("client.py", CLIENT), ("through.py", THROUGH)):
        (jail.workspace / name).write_text(content)
    return jail


@pytest.fixture
async def commands(jail: Jail) -> AsyncIterator[Commands]:
    """Commands, and a server among them that runs in the background."""
    commands = Commands(jail)
    await commands.run(f"{PYTHON} -S server.py", background=True)
    await until((jail.workspace / "serves").exists)
    yield commands
    await commands.tasks.close()


def client(port: int = PORT) -> str:
    return f"{PYTHON} -S client.py {port}"


async def test_a_command_reaches_the_server_that_another_started(commands: Commands) -> None:
    assert (await commands.run(client())).text == "served"


async def test_another_session_does_not_reach_it(commands: Commands, jail: Jail) -> None:
    jail.hide(jail.own)  # makes the sandbox anew
    assert (await Commands(jail).run(client())).text == "refused"


async def test_no_command_reaches_what_this_machine_serves(commands: Commands) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert (await commands.run(client(server.getsockname()[1]))).text == "refused"


async def test_a_read_only_run_does_not_reach_it(commands: Commands, jail: Jail) -> None:
    """It runs without a question: it must not have a server write for it."""
    argv = ("/bin/sh", "-c", f"{client()} | grep -q refused")
    with commands.sandbox.wrap(argv, child_environment({}), Terms(writes=False)) as launch:
        ended = await asyncio.to_thread(started, launch, jail.workspace)
    assert ended.returncode == 0, ended.stderr


async def test_each_command_has_a_proxy_that_no_other_can_use(jail: Jail) -> None:
    async with Server().running() as server:
        names = Names({"a.example": [ELSEWHERE]}, server.port)
        commands = Commands(jail, CommandNetwork(setting="ask", internet=names.internet))
        keeps = "echo ${http_proxy##*:} > port; echo ${http_proxy%@*} > who; sleep 600"
        await commands.run(f"{PYTHON} -V; {keeps}", background=True)
        await until(lambda: (jail.workspace / "who").exists() and (jail.workspace / "who").read_text())
        assert (await commands.run(f"{PYTHON} -S through.py ''")).text.startswith("HTTP/1.1 407 ")
        wrong = "'Proxy-Authorization: Basic a2VlbjphYmM='$'\\r\\n'"
        assert (await commands.run(f"{PYTHON} -S through.py {wrong}")).text.startswith("HTTP/1.1 407 ")
        right = "'Proxy-Authorization: Basic '$(cut -c 8- who | tr -d '\\n' | base64 -w0)$'\\r\\n'"
        through = await commands.run(f"{PYTHON} -S through.py {right}")
        assert through.text.startswith("HTTP/1.1 200 "), "the password alone decides"
        await commands.tasks.close()


async def test_the_password_of_the_proxy_is_taken_out_of_the_output(jail: Jail) -> None:
    commands = Commands(jail, CommandNetwork(setting="ask"))
    shown = (await commands.run(f"{PYTHON} -V; echo $http_proxy")).text.splitlines()[-1]
    assert shown.startswith("http://keen:[") and "@127.0.0.1:" in shown


async def test_where_it_cannot_be_done_commands_are_apart_and_the_model_is_told(
    jail: Jail, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        session_network, "find_program", lambda name: None if name == "nsenter" else find_program(name)
    )
    commands = Commands(jail)
    begun = await commands.run(f"{PYTHON} -S server.py", background=True)
    await until((jail.workspace / "serves").exists)
    assert "[other commands can't reach its local ports here (nsenter is not installed): test a" in begun.text
    assert (await commands.run(client())).text == "refused"
    await commands.tasks.close()


async def test_no_command_runs_where_the_way_in_fails(jail: Jail, tmp_path: Path) -> None:
    """Never in the network of this machine."""
    assert isinstance(jail.sandbox, Bubblewrap)
    terms = Terms(shares_network=True)
    with jail.sandbox.wrap(("/bin/sh", "-c", "exit 0"), child_environment({}), terms) as launch:
        argv = tuple(each.replace("--net=/proc/self/fd/", "--net=/proc/self/fd/9") for each in launch.argv)
        ended = await asyncio.to_thread(started, launch.__class__(argv=argv, environ={}), jail.workspace)
    assert ended.returncode != 0
