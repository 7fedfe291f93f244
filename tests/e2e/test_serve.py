"""`keen-tui serve`: who is let in, how clients end, and the screen in a real browser."""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from weakref import WeakKeyDictionary

import aiohttp
import pyte
import pytest

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Call, Reply, Say
from keen_tui.subcommands.serve import server as serve_server
from keen_tui.subcommands.serve.access import COOKIE
from keen_tui.subcommands.serve.site import ServeOptions
from keen_tui.system.presence import present_in
from tests.support.git_repository import repository
from tests.support.program import Program
from tests.support.waiting import LIMIT, until

pytest.importorskip("textual_serve")


class Served:
    """A server that runs. `entrance` is the address that it printed, `place` the folder of its pages."""

    def __init__(self, process: asyncio.subprocess.Process, entrance: str, program: Program) -> None:
        self.process = process
        self.entrance = entrance
        self.origin = entrance.partition("/?")[0]
        self.place = ""
        self.program = program

    async def enter(self, client: aiohttp.ClientSession) -> str:
        """Give the token; returns the address of the page."""
        async with client.get(self.entrance, allow_redirects=False) as answer:
            assert answer.status == 303
            self.place = answer.headers["Location"]
            return f"{self.origin}{self.place}"

    @asynccontextmanager
    async def page(self, client: aiohttp.ClientSession) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
        """The websocket of a page."""
        address = f"{self.origin}{self.place}ws?width=100&height=30"
        async with client.ws_connect(address, headers={"Origin": self.origin}) as socket:
            yield socket

    def clients(self) -> set[int]:
        """The processes of Keen in the workspace."""
        environ = {"KEEN_HOME": str(self.program.home)}
        return {each.pid for each in present_in(environ, self.program.workspace)}


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


@pytest.fixture
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as client:
        yield client


@asynccontextmanager
async def serving(program: Program, *flags: str) -> AsyncIterator[Served]:
    process = await program.start("serve", *flags)
    try:
        assert process.stdout
        entrance = ""
        async with asyncio.timeout(LIMIT):
            while not entrance:
                line = (await process.stdout.readline()).decode()
                assert line, (await process.stderr.read()).decode() if process.stderr else ""
                entrance = next(iter(re.findall(r"http://\S+", line)), "")
        yield Served(process, entrance, program)
    finally:
        if process.returncode is None:
            process.terminate()
        async with asyncio.timeout(LIMIT):
            await process.wait()


async def status(client: aiohttp.ClientSession, address: str, **headers: str) -> int:
    async with client.get(address, headers=headers, allow_redirects=False) as answer:
        return answer.status


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


_PICTURES: WeakKeyDictionary[aiohttp.ClientWebSocketResponse, pyte.Screen] = WeakKeyDictionary()


async def answer_to(origin: str, sent: str) -> bytes:
    """What the server answers to that until it closes the connection."""
    host, _, port = origin.removeprefix("http://").rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(sent.encode())
    async with asyncio.timeout(LIMIT):
        answer = await reader.read()
    writer.close()
    return answer


async def drawn(socket: aiohttp.ClientWebSocketResponse, words: str) -> None:
    """Wait until the picture of the page shows that."""
    screen = _PICTURES.setdefault(socket, pyte.Screen(100, 30))
    stream = pyte.ByteStream(screen)
    try:
        async with asyncio.timeout(LIMIT):
            while words not in "\n".join(screen.display):
                message = await socket.receive()
                assert message.type == aiohttp.WSMsgType.BINARY, message
                stream.feed(message.data)
    except TimeoutError as error:
        raise TimeoutError(f"waited in vain for {words!r} in\n" + "\n".join(screen.display)) from error


async def test_only_the_token_opens_the_door(program: Program, client: aiohttp.ClientSession) -> None:
    async with serving(program, "--demo") as served:
        assert await status(client, f"{served.origin}/") == 403
        assert await status(client, f"{served.entrance}x") == 403
        page = await served.enter(client)
        assert await status(client, page) == 200
        async with aiohttp.ClientSession() as stranger:
            for path in ("", "ws", "page/page.js", "static/js/textual.js"):
                assert await status(stranger, f"{page}{path}", Origin=served.origin) == 403
            wrong = {"Cookie": f"{COOKIE}=wrong"}
            assert await status(stranger, page, **wrong) == 403


async def test_the_token_becomes_a_cookie_that_no_script_and_no_other_page_gets(
    program: Program, client: aiohttp.ClientSession
) -> None:
    async with (
        serving(program, "--demo") as served,
        client.get(served.entrance, allow_redirects=False) as answer,
    ):
        cookie = answer.headers["Set-Cookie"]
        assert answer.headers["Location"] in cookie
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert served.entrance.partition("token=")[2] not in cookie + answer.headers["Location"]


async def test_other_names_and_other_pages_are_refused(
    program: Program, client: aiohttp.ClientSession
) -> None:
    async with serving(program, "--demo") as served:
        page = await served.enter(client)
        port = served.origin.rpartition(":")[2]
        assert await status(client, page, Host=f"evil.example:{port}") == 403
        assert await status(client, served.entrance, Host="evil.example") == 403
        assert await status(client, page, Origin="http://evil.example") == 403
        assert await status(client, page, **{"Sec-Fetch-Site": "cross-site"}) == 403
        for origin in ("http://evil.example", "http://127.0.0.1:1", "null"):
            assert await status(client, f"{page}ws", Origin=origin) == 403
        assert await status(client, f"{page}ws") == 403


async def test_a_request_that_cannot_be_read_leaves_no_token_in_the_log(
    program: Program, client: aiohttp.ClientSession
) -> None:
    async with serving(program, "--demo") as served:
        token = served.entrance.partition("token=")[2]
        for line in (f"GET /?token={token} HTTP/9.9", f"GET /?token={token}\x01 HTTP/1.1"):
            answer = await answer_to(served.origin, f"{line}\r\nHost: 127.0.0.1\r\n\r\n")
            assert answer.startswith(b"HTTP/1.0 400")
    assert not (program.home / "keen.log").exists()


async def test_connections_without_a_request_are_closed(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve_server, "UNUSED_SECONDS", 0.1)
    options = ServeOptions(arguments=(), clients=1, idle_seconds=1, folder=program.workspace)
    said = io.StringIO()
    serving_here = asyncio.create_task(serve_server.serve("127.0.0.1", 0, options, {}, said))
    try:
        await until(lambda: "token=" in said.getvalue())
        origin = said.getvalue().split("http://")[1].split("/")[0]
        assert await answer_to(f"http://{origin}", "") == b""
        assert await answer_to(f"http://{origin}", "GET / HT") == b""
    finally:
        os.kill(os.getpid(), signal.SIGTERM)
        await serving_here


async def test_pages_fetch_nothing_from_elsewhere(program: Program, client: aiohttp.ClientSession) -> None:
    async with serving(program, "--demo") as served:
        page = await served.enter(client)
        async with client.get(page) as answer:
            assert answer.headers["Content-Security-Policy"].startswith("default-src 'none';")
            assert not re.findall(r"https?://", await answer.text())


async def test_too_many_pages_are_told_so(program: Program, client: aiohttp.ClientSession) -> None:
    async with serving(program, "--demo", "--clients", "1") as served:
        page = await served.enter(client)
        async with served.page(client) as socket:
            await drawn(socket, "shopcart")
            assert await status(client, page) == 200  # the page that is open may be about to be reloaded
            async with served.page(client) as second:
                message = await second.receive()
            assert message.type == aiohttp.WSMsgType.CLOSE
            assert message.extra == "Keen serves 1 page at once. Close one, then reload."


async def test_a_page_that_is_reloaded_at_once_resumes_its_session(
    program: Program, client: aiohttp.ClientSession
) -> None:
    async with ModelServer([Reply([Say("The first answer.")])]) as model:
        flags = ("--clients", "1", "--base-url", model.base_url, "--model", "scripted")
        async with serving(program, *flags) as served:
            await served.enter(client)
            async with served.page(client) as socket:
                await drawn(socket, "scripted")
                for keys in ("hello", "\r"):
                    await socket.send_json(["stdin", keys])
                await drawn(socket, "The first answer.")
                (before,) = served.clients()
            async with served.page(client) as socket:
                await drawn(socket, "The first answer.")
                assert gone(before)


async def test_a_page_that_is_left_takes_its_program_along(
    program: Program, client: aiohttp.ClientSession
) -> None:
    async with serving(program) as served:
        await served.enter(client)
        async with served.page(client):
            await until(served.clients)
            (pid,) = served.clients()
        await until(lambda: gone(pid))


async def test_a_page_that_nobody_uses_ends(program: Program, client: aiohttp.ClientSession) -> None:
    async with serving(program, "--idle-minutes", "0.05") as served:
        await served.enter(client)
        async with served.page(client) as socket:
            async with asyncio.timeout(LIMIT):
                while (message := await socket.receive()).type == aiohttp.WSMsgType.BINARY:
                    pass
            assert message.type == aiohttp.WSMsgType.CLOSE
            assert str(message.extra).startswith("Nothing was typed for a long time")
        await until(lambda: not served.clients())


async def test_a_running_turn_is_continued_when_the_browser_comes_back(
    program: Program, client: aiohttp.ClientSession
) -> None:
    calls = [Call("bash", {"command": "echo ran >> ran.txt"}), Call("bash", {"command": "sleep 600"})]
    async with ModelServer([Reply(calls), Reply([Say("All done.")])]) as server:
        model = ("--base-url", server.base_url, "--model", "scripted", "--mode", "auto")
        async with serving(program, *model, "--clients", "1") as served:
            await served.enter(client)
            async with served.page(client) as socket:
                await drawn(socket, "What should I do?")
                await socket.send_str(json.dumps(["stdin", "go\r"]))
                await until((program.workspace / "ran.txt").exists)
            async with served.page(client) as socket:
                await drawn(socket, "incomplete")
                await socket.send_str(json.dumps(["stdin", "\x12"]))
                await drawn(socket, "All done.")
    assert (program.workspace / "ran.txt").read_text() == "ran\n", "nothing ran twice"


async def test_the_first_page_continues_the_session_that_was_asked_for(
    program: Program, client: aiohttp.ClientSession
) -> None:
    async with ModelServer([Reply([Say("Seven it is.")])]) as server:
        model = ("--base-url", server.base_url, "--model", "scripted")
        assert (await program.run(*model, "-p", "remember seven")).code == 0
        async with serving(program, *model, "--continue") as served:
            await served.enter(client)
            async with served.page(client) as socket:
                await drawn(socket, "Seven it is.")
                async with served.page(client) as other:
                    await drawn(other, "What should I do?")


async def test_a_session_or_a_work_tree_that_cant_be_had_is_told_at_once(program: Program) -> None:
    for flags, sentence in (
        (("--continue",), "There is no session in this folder yet"),
        (("--resume", "20990101"), "There is no session"),
        (("--worktree", "fix"), "git"),
        (("-p", "hi"), "-p doesn't work with serve"),
    ):
        run = await program.run("serve", *flags)
        assert run.code == 2
        assert sentence in run.err


async def test_the_pages_work_in_the_work_tree(program: Program, client: aiohttp.ClientSession) -> None:
    repository(program.workspace)
    model = ("--base-url", "http://127.0.0.1:9/v1", "--model", "scripted")
    async with serving(program, "--worktree", "fix", *model) as served:
        await served.enter(client)
        async with served.page(client) as socket:
            await drawn(socket, "keen/fix")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
async def test_programs_end_with_the_server(
    number: signal.Signals, program: Program, client: aiohttp.ClientSession
) -> None:
    async with serving(program) as served:
        await served.enter(client)
        async with served.page(client):
            await until(served.clients)
            (pid,) = served.clients()
            served.process.send_signal(number)
            await until(lambda: gone(pid))
        async with asyncio.timeout(LIMIT):
            code = await served.process.wait()
        assert code == (-signal.SIGKILL if number == signal.SIGKILL else 0)


async def test_nonsense_of_a_page_hurts_nobody(program: Program, client: aiohttp.ClientSession) -> None:
    async with serving(program, "--demo") as served:
        await served.enter(client)
        async with served.page(client) as socket:
            for said in (
                "{",
                "[]",
                '["resize", {"width": "x"}]',
                '["resize", {"width": -5, "height": 9999999}]',
                "[" * 100_000,
            ):
                await socket.send_str(said)
            await socket.send_str('["ping", "7"]')
            async with asyncio.timeout(LIMIT):
                while (message := await socket.receive()).type != aiohttp.WSMsgType.TEXT:
                    assert message.type == aiohttp.WSMsgType.BINARY
            assert message.json() == ["pong", "7"]


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (("--clients", "0"), "--clients must be at least 1."),
        (("--idle-minutes", "0"), "--idle-minutes must be more than 0."),
        (("--port", "70000"), "--port must be a number from 0 to 65535."),
        (("--address", "192.0.2.1"), "192.0.2.1, port 0, can't be used:"),
        (("--address", ""), "--address must name an address, such as 127.0.0.1."),
        (("--address", "x" * 70), f"{'x' * 70} can't be the name of an address."),
    ],
)
async def test_flags_are_checked(flags: tuple[str, ...], sentence: str, program: Program) -> None:
    run = await program.run("serve", *flags)
    assert run.code == 2
    assert sentence in run.err


async def test_another_address_is_warned_of(program: Program) -> None:
    process = await program.start("serve", "--address", "0.0.0.0")
    assert process.stdout
    try:
        async with asyncio.timeout(LIMIT):
            lines = [(await process.stdout.readline()).decode() for _ in range(4)]
        assert "not encrypted" in lines[-1]
    finally:
        process.terminate()
        await process.wait()
