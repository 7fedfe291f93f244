"""The network of commands in every sandbox that this machine has: a proxy, everything, or nothing."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from keen_tui.domain.messages import ToolResult
from keen_tui.tools.builtin.bash import Bash
from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.network.gate import HostAnswer
from keen_tui.tools.network.socket_handover import NoListener, handed_out, handover
from keen_tui.tools.sandbox.command_network import CommandNetwork
from keen_tui.tools.sandbox.policy import policy_for
from keen_tui.tools.sandbox.probe import ProbeResult, SandboxFinder
from tests.support.jail import PYTHON, SANDBOXES, Jail
from tests.support.networks import ELSEWHERE, Names, Server
from tests.support.waiting import LIMIT, until

GET = "import urllib.request as u, sys; print(u.urlopen(sys.argv[1]).read().decode())"


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with Server().running() as running:
        yield running


@pytest.fixture(params=["bubblewrap", "bundled bubblewrap"])
def jail(tmp_path: Path, request: pytest.FixtureRequest) -> Jail:
    return Jail(request.param, tmp_path)


async def run(jail: Jail, server: Server, command: str, *, setting: str = "ask") -> ToolResult:
    """Run it with a network in which a.example is allowed."""
    names = Names({"a.example": [ELSEWHERE], "b.example": [ELSEWHERE]}, server.port)
    network = CommandNetwork(setting=setting, internet=names.internet)  # type: ignore[arg-type]
    finder = SandboxFinder(lambda: ProbeResult(sandbox=jail.sandbox))
    prepared = await Bash(Workspace(jail.workspace), finder, network=network).prepare({"command": command})

    async def decide(hosts: object) -> HostAnswer:
        return HostAnswer(allowed="a.example" in str(hosts), reason="no rule allows it")

    if prepared.network:
        prepared.network.decides(decide, lambda host, problem: None)
    return await prepared.run(lambda *_: None)


async def test_a_command_reaches_what_is_allowed_through_the_proxy(jail: Jail, server: Server) -> None:
    result = await run(jail, server, f"{PYTHON} -c '{GET}' http://a.example/x")
    assert result.text == "hello"
    assert server.heads[0].startswith(b"GET /x HTTP/1.1\r\nHost: a.example\r\n")


async def test_where_commands_see_no_python_there_is_a_proxy_too(jail: Jail, server: Server) -> None:
    jail.policy = policy_for(jail.workspace, jail.home, (jail.own,), {"PATH": "/usr/bin:/bin"})
    jail.hide(jail.own)  # and make the sandbox anew
    head = (
        "GET http://a.example/ HTTP/1.1\\r\\nHost: a.example\\r\\nProxy-Authorization: Basic %s\\r\\n\\r\\n"
    )
    talk = (
        "who=${http_proxy#http://}; signed=$(printf %s ${who%@*} | base64 -w0); "
        f"exec 3<>/dev/tcp/127.0.0.1/${{http_proxy##*:}}; printf '{head}' $signed >&3; cat <&3"
    )
    (jail.workspace / "talk").write_text(talk)
    result = await run(jail, server, "bash talk")
    assert result.text.endswith("hello")


async def test_a_pipe_that_is_closed_ends_what_writes_to_it(jail: Jail, server: Server) -> None:
    """The program that hands the listener out ignores the signal for that, and what it becomes must not."""
    result = await run(jail, server, f"{PYTHON} -V >/dev/null && yes | head -1")
    assert result.text == "y"


async def test_what_is_not_allowed_is_refused_and_told(jail: Jail, server: Server) -> None:
    result = await run(jail, server, f"{PYTHON} -c '{GET}' http://b.example/")
    assert "403" in result.text
    assert "[no network to b.example: no rule allows it]" in result.text
    assert server.heads == []


async def test_past_the_proxy_there_is_nothing(jail: Jail, server: Server) -> None:
    script = (
        "import socket, sys\n"
        "for address in (sys.argv[1], '1.1.1.1'):\n"
        "    try:\n        socket.create_connection((address, int(sys.argv[2])), 2); print('LEAK')\n"
        "    except OSError as error:\n        print('held')\n"
    )
    (jail.workspace / "direct.py").write_text(script)
    result = await run(jail, server, f"{PYTHON} -S direct.py {ELSEWHERE} {server.port}")
    assert result.text == "held\nheld"


async def test_the_command_holds_nothing_of_ours(jail: Jail, server: Server) -> None:
    listing = "import os; print(sorted(os.listdir('/proc/self/fd')))"
    result = await run(jail, server, f'{PYTHON} -S -c "{listing}"')
    assert result.text == "['0', '1', '2', '3']", "the folder that is listed is the fourth"


async def test_a_listener_of_the_commands_own_is_still_possible(jail: Jail, server: Server) -> None:
    serving = (
        "import socket; s = socket.create_server(('127.0.0.1', 8000)); "
        "c = socket.create_connection(('127.0.0.1', 8000)); print('served')"
    )
    assert (await run(jail, server, f'{PYTHON} -S -c "{serving}"')).text == "served"


@pytest.mark.parametrize(("setting", "said"), [("off", "0"), ("ask", "")])
async def test_installs_try_once_where_there_is_no_network(
    jail: Jail, server: Server, setting: str, said: str
) -> None:
    """npm says that it needs one only after its last try, a minute later."""
    command = f'{PYTHON} -V >/dev/null; echo "<$npm_config_fetch_retries>"'
    result = await run(jail, server, command, setting=setting)
    assert result.text == f"<{said}>"


@pytest.mark.parametrize("name", SANDBOXES)
@pytest.mark.parametrize("setting", ["off", "ask"])
async def test_without_a_proxy_no_server_outside_is_reached(
    name: str, setting: str, tmp_path: Path, server: Server
) -> None:
    jail = Jail(name, tmp_path)
    await run(jail, server, f"echo leak > /dev/tcp/{ELSEWHERE}/{server.port}", setting=setting)
    assert server.heads == []


async def test_where_commands_have_no_network_of_their_own_on_means_everything(
    tmp_path: Path, server: Server
) -> None:
    jail = Jail("landlock", tmp_path)
    request = f"printf 'GET / HTTP/1.0\\r\\n\\r\\n' > /dev/tcp/{ELSEWHERE}/{server.port}"
    await run(jail, server, request, setting="on")
    await until(lambda: bool(server.heads))


@pytest.mark.parametrize("what", ["nothing", "a pipe", "a unix socket", "a connection", "no descriptor"])
async def test_only_a_listener_is_taken_from_the_sandbox(what: str) -> None:
    with handover() as (ours, theirs), socket.socket(fileno=os.dup(theirs)) as sender:
        reading, writing = os.pipe()
        pair = socket.socketpair()
        unconnected = socket.socket()
        sent = {"a pipe": reading, "a unix socket": pair[0].fileno(), "a connection": unconnected.fileno()}
        if what == "nothing":
            sender.shutdown(socket.SHUT_WR)
        else:
            socket.send_fds(sender, [b"x"], [sent[what]] if what in sent else [])
        with pytest.raises(NoListener):
            await asyncio.wait_for(handed_out(ours), LIMIT)
        for each in (*pair, unconnected):
            each.close()
        os.close(reading)
        os.close(writing)
