"""Signing in to MCP servers by OAuth, and requests that are signed."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import stat
import struct
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from msgspec.structs import replace

from keen_tui.agent.services.server_service import ServerService
from keen_tui.agent.turn.audience import PERSON
from keen_tui.domain.errors import ConfigError, ServerFailed, SessionRefused, SignInNeeded
from keen_tui.providers.not_configured import NotConfigured
from keen_tui.settings.added.mcp_servers import McpServer
from keen_tui.settings.additions import Additions
from keen_tui.settings.schema import Settings
from keen_tui.text.redaction import masked
from keen_tui.tools.mcp.login import LoginPage, sign_in
from keen_tui.tools.mcp.loopback import Loopback
from keen_tui.tools.mcp.server import ServerConnection, ServerNeeds
from keen_tui.tools.mcp.servers import SessionServers
from keen_tui.tools.mcp.sign_ins import SignIns
from keen_tui.tools.sandbox.probe import no_sandbox
from keen_tui.wiring.sessions import SessionProgram, build_session
from tests.support.keyrings import no_system_keyring
from tests.support.oauth_server import SignInServer, half_open_server, sign_in_server
from tests.support.waiting import until


@pytest.fixture(autouse=True)
def no_ring() -> Iterator[None]:
    with no_system_keyring():
        yield


@pytest.fixture
async def place() -> AsyncIterator[SignInServer]:
    async with sign_in_server() as server:
        yield server


@pytest.fixture
def sign_ins(tmp_path: Path) -> SignIns:
    return SignIns(tmp_path / "settings")


async def counted(place: SignInServer, sign_ins: SignIns) -> str:
    """What the server's tool says to somebody who has signed in, or hasn't."""
    auth = await sign_ins.auth(place.server)
    async with (
        httpx2.AsyncClient(auth=auth) as http,
        Client(streamable_http_client(place.url, http_client=http)) as client,
    ):
        result = await client.call_tool("count", {})
        return str(getattr(result.content[0], "text", ""))


async def status(place: SignInServer, sign_ins: SignIns) -> int:
    """The status of a request that is signed."""
    auth = await sign_ins.auth(place.server)
    async with httpx2.AsyncClient(auth=auth) as http:
        return (await http.get(place.url, headers={"accept": "application/json"})).status_code


async def test_a_sign_in_in_the_browser_opens_the_server(
    place: SignInServer, sign_ins: SignIns, tmp_path: Path
) -> None:
    assert await sign_ins.auth(place.server) is None
    assert await status(place, sign_ins) == 401
    where = await sign_in(place.server, sign_ins, place.person)
    file = tmp_path / "settings" / "sign-ins.toml"
    assert where == f"{file}, which only you can read"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert await counted(place, sign_ins) == "3"
    kept = sign_ins.get(place.url)
    assert kept and kept.tokens["access_token"] in place.accounts.access
    assert kept.tokens["access_token"] not in repr(kept)
    assert masked(f"{kept.tokens['access_token']} {kept.tokens['refresh_token']}") == "[key] [key]"


async def test_over_ssh_the_address_is_pasted_and_a_wrong_one_is_refused(
    place: SignInServer, sign_ins: SignIns
) -> None:
    shown: list[LoginPage] = []
    signing = asyncio.create_task(sign_in(place.server, sign_ins, shown.append))
    await until(lambda: bool(shown))
    right = await place.page_after(shown[0].url)
    begin, _, query = right.partition("?")
    code, state = (httpx2.URL(right).params[name] for name in ("code", "state"))
    other_host = rf"^The address must begin with {re.escape(begin)}\.$"
    for wrong, says in (
        ("", other_host),
        ("notes", other_host),
        (f"https://127.0.0.1{begin.removeprefix('http://127.0.0.1')}?{query}", other_host),
        (f"http://127.0.0.1:1/callback?{query}", other_host),
        (f"http://evil.example/callback?{query}", other_host),
        (f"http://evil.example/?{right}", other_host),
        (f"{begin}?code={code}&state=somebody-elses", "belongs to another sign-in"),
        (f"{begin}?code={code}", "belongs to another sign-in"),
        (f"{begin}?state={state}", "is incomplete"),
        (f"{begin}?state={state}&code=", "is incomplete"),
    ):
        with pytest.raises(SessionRefused, match=says) as refused:
            shown[0].take(wrong)
        assert code not in str(refused.value) and state not in str(refused.value)
    assert not signing.done()
    shown[0].take(f" {right.removeprefix('http://')}\n")
    await signing
    assert await counted(place, sign_ins) == "3"


async def test_a_page_that_does_not_know_the_state_changes_nothing(
    place: SignInServer, sign_ins: SignIns
) -> None:
    seen: list[int] = []

    def person(page: LoginPage) -> None:
        back = httpx2.URL(page.url).params["redirect_uri"]

        async def visit() -> None:
            async with httpx2.AsyncClient() as client:
                state = f"state={httpx2.URL(page.url).params['state']}"
                for target in ("?code=evil", "?code=evil&state=guess", "?error=x&state=", "x/y?code=1"):
                    seen.append((await client.get(back + target)).status_code)
                seen.append((await client.get(f"{back}?{state}")).status_code)
                seen.append((await client.post(back)).status_code)
            place.person(page)

        asyncio.get_running_loop().create_task(visit()).add_done_callback(lambda done: done.result())

    await sign_in(place.server, sign_ins, person)
    assert seen == [400, 400, 400, 404, 400, 404]
    assert await counted(place, sign_ins) == "3"


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02",
        b"GET //[ HTTP/1.1\r\nhost: x\r\n\r\n",
        b"GET http://[ HTTP/1.1\r\nhost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 200,
        b"GET /callback" + b"x" * 70_000,
        b"GET /callback?state=\xff HTTP/1.1\r\nhost: x\r\n\r\n",
        b"GET /callback?state=%ff&code=1 HTTP/1.1\r\nhost: x\r\n\r\n",
        b"",
    ],
)
async def test_what_no_browser_sends_is_ignored(
    sent: bytes, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    async with Loopback() as loopback:
        loopback.state = "right"
        reader, writer = await asyncio.open_connection("127.0.0.1", loopback.port)
        writer.write(sent)
        writer.write_eof()
        assert not (await reader.read()).startswith(b"HTTP/1.1 200")
        writer.close()
        await writer.wait_closed()
        loopback.take(f"http://127.0.0.1:{loopback.port}/callback?state=right&code=1")
        assert (await loopback.answer())["code"] == "1"
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")


async def test_a_browser_that_pauses_or_goes_away_is_left_in_silence(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("keen_tui.tools.mcp.loopback._Visit.timeout", 0.1)
    async with Loopback() as loopback:
        with socket.create_connection(("127.0.0.1", loopback.port)) as gone:
            gone.sendall(b"GET /")
            gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closed by a reset
        reader, writer = await asyncio.open_connection("127.0.0.1", loopback.port)
        writer.write(b"GET /callback?state")
        assert await reader.read() == b""
        writer.close()
    assert capfd.readouterr() == ("", "")


async def test_a_refusal_is_told_in_the_words_of_the_server(place: SignInServer, sign_ins: SignIns) -> None:
    place.accounts.refuses = True
    with pytest.raises(ServerFailed, match=r"the sign-in was refused: not today$"):
        await sign_in(place.server, sign_ins, place.person)
    assert sign_ins.get(place.url) is None


async def test_somebody_who_does_not_come_is_not_waited_for(place: SignInServer, sign_ins: SignIns) -> None:
    with pytest.raises(ServerFailed, match="nobody signed in within 0 minutes"):
        await sign_in(place.server, sign_ins, lambda page: None, seconds=0.3)


async def test_a_server_without_a_sign_in_says_so(sign_ins: SignIns, place: SignInServer) -> None:
    plain = replace(place.server, url=place.url.replace("/mcp", "/.well-known/oauth-authorization-server"))
    with pytest.raises(ServerFailed, match="it doesn't ask for a sign-in"):
        await sign_in(plain, sign_ins, place.person)


async def test_a_server_that_is_not_there_is_told(sign_ins: SignIns, place: SignInServer) -> None:
    gone = replace(place.server, url="http://127.0.0.1:1/mcp")
    with pytest.raises(ServerFailed, match="can't be reached"):
        await sign_in(gone, sign_ins, place.person)


async def test_tokens_that_end_are_renewed_in_time(place: SignInServer, sign_ins: SignIns) -> None:
    place.accounts.seconds = 20
    await sign_in(place.server, sign_ins, place.person)
    before = sign_ins.get(place.url)
    place.accounts.seconds = 3600
    assert await counted(place, sign_ins) == "3"
    after = sign_ins.get(place.url)
    assert before and after and after.tokens != before.tokens
    assert after.expires_at and after.expires_at > time.time() + 3000
    assert place.accounts.renewals == 1
    assert len(place.visited) == 1


async def test_tokens_that_are_refused_are_renewed_once(place: SignInServer, sign_ins: SignIns) -> None:
    await sign_in(place.server, sign_ins, place.person)
    place.accounts.forget_access()
    assert await counted(place, sign_ins) == "3"
    assert place.accounts.renewals == 1


async def test_many_requests_and_programs_renew_once(
    place: SignInServer, sign_ins: SignIns, tmp_path: Path
) -> None:
    await sign_in(place.server, sign_ins, place.person)
    other = SignIns(tmp_path / "settings")
    first, second = await sign_ins.auth(place.server), await other.auth(place.server)
    place.accounts.forget_access()
    async with httpx2.AsyncClient(auth=first) as one, httpx2.AsyncClient(auth=second) as two:
        replies = await asyncio.gather(*(each.get(place.url) for each in (one, two, one, two)))
    assert {reply.status_code for reply in replies} <= {400, 406}
    assert place.accounts.renewals == 1


async def test_a_sign_in_that_was_taken_back_has_to_be_made_again(
    place: SignInServer, sign_ins: SignIns
) -> None:
    await sign_in(place.server, sign_ins, place.person)
    place.accounts.forget_all()
    with pytest.raises(SignInNeeded, match="the sign-in has ended"):
        await status(place, sign_ins)
    assert len(place.accounts.clients) == 1, "no registration without a person"
    await sign_in(place.server, sign_ins, place.person)
    assert await counted(place, sign_ins) == "3"


async def test_a_session_that_runs_takes_a_new_sign_in_of_another_program(
    place: SignInServer, sign_ins: SignIns, tmp_path: Path
) -> None:
    await sign_in(place.server, sign_ins, place.person)
    auth = await sign_ins.auth(place.server)
    place.accounts.forget_all()
    await sign_in(place.server, SignIns(tmp_path / "settings"), place.person)
    async with httpx2.AsyncClient(auth=auth) as http:
        assert (await http.get(place.url)).status_code in (400, 406)


async def test_an_authorization_server_that_is_away_ends_no_sign_in(
    place: SignInServer, sign_ins: SignIns
) -> None:
    await sign_in(place.server, sign_ins, place.person)
    kept = sign_ins.get(place.url)
    assert kept and kept.metadata
    metadata = {**kept.metadata, "token_endpoint": "http://127.0.0.1:1/token"}
    sign_ins.put(place.url, replace(kept, metadata=metadata, expires_at=1.0))
    with pytest.raises(ServerFailed, match="can't be renewed now") as raised:
        await status(place, sign_ins)
    assert not isinstance(raised.value, SignInNeeded)
    assert sign_ins.get(place.url)


async def test_tokens_belong_to_the_address(place: SignInServer, sign_ins: SignIns) -> None:
    await sign_in(place.server, sign_ins, place.person)
    assert await sign_ins.auth(replace(place.server, name="other")) is not None
    assert await sign_ins.auth(replace(place.server, url=place.url + "/x")) is None
    assert await sign_ins.auth(replace(place.server, headers={"authorization": "Bearer mine"})) is None


async def test_a_damaged_entry_is_told_without_its_content(
    place: SignInServer, sign_ins: SignIns, tmp_path: Path
) -> None:
    await sign_in(place.server, sign_ins, place.person)
    file = tmp_path / "settings" / "sign-ins.toml"
    file.write_text(file.read_text().replace("tokens", "takens"))
    with pytest.raises(ConfigError, match=r"is damaged\. Sign in again") as raised:
        sign_ins.get(place.url)
    assert "access-" not in str(raised.value)
    with pytest.raises(ServerFailed, match="is damaged"):
        await sign_ins.auth(place.server)
    assert sign_ins.forget(place.url)
    assert sign_ins.get(place.url) is None


async def test_a_session_uses_the_sign_in(
    place: SignInServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEEN_HOME", str(tmp_path / "home"))
    session, _ = build_session(
        Settings(sandbox=False),
        tmp_path,
        NotConfigured("none"),
        None,
        SessionProgram(audience=PERSON, additions=Additions(servers=(place.server,))),
    )
    servers = session.state.open.setup.toolbox.servers
    assert servers
    connection = servers.connection("notes")
    assert connection
    told: list[str] = []
    servers.tell = told.append
    try:
        servers.start()
        await connection.settled()
        assert connection.state == "sign-in"
        await sign_in(place.server, SignIns(tmp_path / "home"), place.person)
        await servers.restart("notes")
        await connection.settled()
        assert servers.reports()[0].state == "ready"
        place.accounts.forget_all()
        with pytest.raises(ServerFailed):
            await connection.call("count", {}, lambda *_: None)
        await until(lambda: connection.state == "sign-in")
        assert connection.reason == "the sign-in has ended"
        advice = "Sign in with /mcp login notes, or with keen-tui mcp login notes in a shell."
        assert told == [
            f"The MCP server notes needs a sign-in. {advice}",
            f"The MCP server notes needs a sign-in: the sign-in has ended. {advice}",
        ]
    finally:
        await servers.close()


async def test_a_sign_in_from_a_session_starts_the_server_again(
    place: SignInServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The desktop's opener is a program that notes the address."""
    home, seen = tmp_path / "home", tmp_path / "seen"
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("xdg-open", "open", "wslview"):
        (tools / name).write_text(f'#!/bin/sh\necho "$1" > {seen}.new; mv {seen}.new {seen}\n')
        (tools / name).chmod(0o755)
    monkeypatch.setenv("KEEN_HOME", str(home))
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    for name in ("SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT", "DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"):
        monkeypatch.delenv(name, raising=False)
    program = McpServer(name="program", command="false")
    additions = Additions(servers=(place.server, program))
    session, _ = build_session(
        Settings(sandbox=False),
        tmp_path,
        NotConfigured("none"),
        None,
        SessionProgram(audience=PERSON, additions=additions),
    )
    servers = session.state.open.setup.toolbox.servers
    assert servers
    service = ServerService(servers, home)
    with pytest.raises(SessionRefused, match="program is a program"):
        await service.login("program")
    with pytest.raises(SessionRefused, match="There is no MCP server nobody"):
        await service.login("nobody")
    try:
        if sys.platform != "darwin":
            there_is_none = await service.login("notes")
            assert (there_is_none.url[:7], there_is_none.is_in_browser) == ("http://", False)
        monkeypatch.setenv("DISPLAY", ":0")
        waiting = await service.login("notes")
        if sys.platform != "darwin":
            with pytest.raises(SessionRefused, match=r"The sign-in to notes was cancelled\.$"):
                await there_is_none.ended()
        assert waiting.is_in_browser
        await until(seen.exists)
        assert seen.read_text().strip() == waiting.url
        with pytest.raises(SessionRefused, match="belongs to another sign-in"):
            waiting.paste(await place.page_after(waiting.url.replace("state=", "state=x")))
        place.browser(waiting.url)
        assert await waiting.ended() == "Signed in to notes. The server starts again."
        await until(lambda: servers.reports()[0].state == "ready")
        place.accounts.refuses = True
        refused = await service.login("notes")
        place.browser(refused.url)
        with pytest.raises(SessionRefused) as told:
            await refused.ended()
        assert str(told.value) == "You aren't signed in to notes: the sign-in was refused: not today."
        cancelled = await service.login("notes")
        cancelled.cancel()
        with pytest.raises(SessionRefused, match="was cancelled"):
            await cancelled.ended()
    finally:
        await servers.close()


async def test_a_server_without_a_page_to_sign_in_says_why(tmp_path: Path) -> None:
    gone = McpServer(name="gone", transport="http", url="http://127.0.0.1:1/mcp")
    needs = ServerNeeds(root=tmp_path, sandbox=no_sandbox())
    service = ServerService(SessionServers([gone], needs, lambda: None), tmp_path)
    with pytest.raises(SessionRefused, match=r"You aren't signed in to gone: .* can't be reached"):
        await service.login("gone")


async def test_a_server_that_greets_everybody_and_refuses_the_first_request_needs_a_sign_in(
    tmp_path: Path, sign_ins: SignIns
) -> None:
    needs = ServerNeeds(root=tmp_path, sandbox=no_sandbox(), auth=sign_ins.auth)
    async with half_open_server() as server:
        connection = ServerConnection(server, needs, lambda: None, lambda sentence: None)
        connection.start()
        await connection.settled()
        assert (connection.state, connection.reason) == ("sign-in", "")
        await connection.stop()
