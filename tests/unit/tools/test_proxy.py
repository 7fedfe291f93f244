"""Ways to get more out of the proxy of commands than it gives, each over real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from keen_tui.tools.network import proxy
from keen_tui.tools.network.addresses import Internet, connected
from tests.support.networks import ELSEWHERE, Line, Names, Server
from tests.support.waiting import LIMIT

GOOD = "good.example"


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with Server().running() as running:
        yield running


@pytest.fixture
async def line(server: Server) -> AsyncIterator[Line]:
    names = Names(
        {
            GOOD: [ELSEWHERE],
            "evil.example": [ELSEWHERE],
            "home.example": ["127.0.0.1"],
            "lan.example": ["192.168.1.1"],
            "mixed.example": [ELSEWHERE, "10.0.0.1"],
            "mapped.example": ["::ffff:127.0.0.2"],
            "mapped-lan.example": ["::ffff:10.0.0.1"],
            "mapped-hex.example": ["::ffff:a00:1"],
            "mapped-public.example": ["::ffff:1.1.1.1"],
            "metadata.example": ["169.254.169.254"],
            "carrier.example": ["100.64.0.1"],
            "odd.example": ["not an address"],
        }
    )
    allowed = [name for name in names.addresses if name != "evil.example"]
    async with Line(names, [*allowed, "nowhere.example"]).open() as opened:
        yield opened


def get(url: str, host: str, more: str = "") -> bytes:
    return f"GET {url} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n".encode()


async def test_plain_http_is_passed_on_with_a_head_of_our_own(line: Line, server: Server) -> None:
    authority = f"{GOOD}:{server.port}"
    more = (
        "Proxy-Connection: keep-alive\r\nConnection: X-Hop\r\nX-Hop: 1\r\nX-End: 2\r\nUpgrade: websocket\r\n"
    )
    answer = await line.says(get(f"http://{authority}/a?b", authority, more))
    assert answer.startswith(b"HTTP/1.1 200 OK") and answer.endswith(b"hello")
    [head] = server.heads
    assert head.startswith(b"GET /a?b HTTP/1.1\r\n")
    assert f"Host: {authority}".encode() in head and b"X-End: 2" in head
    for name in (b"x-hop", b"proxy-connection", b"upgrade"):
        assert name not in head.lower()
    assert line.reports == [(authority, "")]


async def test_a_tunnel_passes_bytes_both_ways(line: Line, server: Server) -> None:
    request = f"CONNECT {GOOD}:{server.port} HTTP/1.1\r\nHost: {GOOD}\r\n\r\n".encode()
    answer = await line.says(request, b"hi there\r\n\r\n")
    assert answer == b"HTTP/1.1 200 Connection established\r\n\r\n" + server.answer
    assert server.heads == [b"hi there\r\n\r\n"]


async def test_what_is_sent_with_the_connect_reaches_the_server(line: Line, server: Server) -> None:
    answer = await line.says(
        f"CONNECT {GOOD}:{server.port} HTTP/1.1\r\nHost: x\r\n\r\nearly\r\n\r\n".encode()
    )
    assert answer.endswith(b"hello")
    assert server.heads == [b"early\r\n\r\n"]


async def test_content_in_chunks_goes_both_ways(line: Line, server: Server) -> None:
    server.answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    authority = f"{GOOD}:{server.port}"
    head = f"POST http://{authority}/ HTTP/1.1\r\nHost: {authority}\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = await line.says(head.encode() + b"3\r\nabc\r\n0\r\n\r\n")
    assert b"hello" in answer and answer.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    "target",
    [
        "127.0.0.1",
        "127.1",
        "0x7f.1",
        "2130706433",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "169.254.169.254",
        "8.8.8.8",
    ],
)
async def test_no_address_is_reached_by_its_number(line: Line, target: str) -> None:
    for request in (
        f"CONNECT {target}:443 HTTP/1.1\r\nHost: x\r\n\r\n".encode(),
        get(f"http://{target}/", target),
    ):
        assert (await line.says(request)).startswith((b"HTTP/1.1 403", b"HTTP/1.1 400"))
    assert (line.wanted, line.names.asked) == ([], [])


@pytest.mark.parametrize(
    "target", ["localhost", "x.localhost", "intranet", "good.example\\.evil", "good_.%41", ""]
)
async def test_no_name_of_this_machine_or_its_network_is_reached(line: Line, target: str) -> None:
    answer = await line.says(f"CONNECT {target}:443 HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    assert answer.startswith((b"HTTP/1.1 403", b"HTTP/1.1 400"))
    assert line.names.asked == []


@pytest.mark.parametrize(
    "name",
    [
        "home",
        "lan",
        "mixed",
        "mapped",
        "mapped-lan",
        "mapped-hex",
        "mapped-public",
        "metadata",
        "carrier",
        "odd",
    ],
)
async def test_no_name_leads_to_this_machine_or_its_network(line: Line, server: Server, name: str) -> None:
    host = f"{name}.example:{server.port}"
    assert (await line.says(f"CONNECT {host} HTTP/1.1\r\nHost: x\r\n\r\n".encode())).startswith(
        b"HTTP/1.1 403"
    )
    assert (await line.says(get(f"http://{host}/", host))).startswith(b"HTTP/1.1 403")
    assert server.heads == []
    assert line.reports == [(host, "it points to an address of this machine or a local network")]


async def test_an_address_of_this_machine_is_not_reached_even_if_it_is_a_public_one(server: Server) -> None:
    own = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    port = own.sockets[0].getsockname()[1]
    names = Names({GOOD: ["127.0.0.1"]})
    internet = Internet(resolve=names.resolve, is_open=lambda _: True, connect=connected)
    open_to_all = Line(names, [GOOD], internet=internet)
    async with own, open_to_all.open():
        answer = await open_to_all.says(f"CONNECT {GOOD}:{port} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 403")


async def test_a_name_that_changes_its_address_leads_nowhere_new(line: Line, server: Server) -> None:
    authority = f"{GOOD}:{server.port}"
    assert (await line.says(get(f"http://{authority}/", authority))).endswith(b"hello")
    line.names.addresses[GOOD] = ["127.0.0.1"]
    assert (await line.says(get(f"http://{authority}/", authority))).startswith(b"HTTP/1.1 403")
    assert line.names.asked == [GOOD, GOOD], "what was checked is what was connected to: once a connection"


async def test_a_host_that_is_not_allowed_is_not_even_looked_up(line: Line) -> None:
    answer = await line.says(b"CONNECT evil.example:443 HTTP/1.1\r\nHost: good.example\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 403 Keen: evil.example: no rule allows it")
    assert (line.wanted, line.names.asked) == (["evil.example"], [])


@pytest.mark.parametrize(
    "request_",
    [
        get("http://good.example/", "evil.example"),
        get("http://good.example/", "good.example:8080"),
        b"GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\nHost: evil.example\r\n\r\n",
        get("http://evil.example@good.example/", "good.example"),
        get("http://good.example\\@evil.example/", "good.example"),
        get("https://good.example/", "good.example"),
        get("ftp://good.example/", "good.example"),
        get("/", "good.example"),
        get("*", "good.example"),
        get("http://good.example:0x50/", "good.example"),
        get("http://good.example:99999/", "good.example"),
        b"CONNECT good.example HTTP/1.1\r\nHost: x\r\n\r\n",
        b"CONNECT good.example:0 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"CONNECT good.example:443 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
        b"GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\nX: a\r\n b\x00c\r\n\r\n",
        b"GET http://good.example/\r\nX: HTTP/1.1\r\n\r\n",
        b"GET http://good.example/ HTTP/1.1\nHost good.example\n\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\n"
        b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    ],
)
async def test_a_request_that_says_two_things_goes_nowhere(line: Line, request_: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", line.port)
    writer.write(request_)
    writer.write_eof()
    answer = await asyncio.wait_for(reader.read(), LIMIT)
    writer.close()
    assert answer == b"" or answer.startswith(b"HTTP/1.1 4")
    assert line.names.asked == []


async def test_one_connection_takes_one_request(line: Line, server: Server) -> None:
    authority = f"{GOOD}:{server.port}"
    smuggled = get("http://evil.example/", "evil.example")
    answer = await line.says(get(f"http://{authority}/", authority) + smuggled)
    assert answer.count(b"HTTP/1.1") == 1
    assert len(server.heads) == 1 and b"evil" not in server.heads[0]


async def test_a_head_that_never_ends_is_refused(line: Line) -> None:
    answer = await line.says(b"GET http://good.example/ HTTP/1.1\r\nX: " + b"a" * 70_000)
    assert answer.startswith(b"HTTP/1.1 431")


async def test_a_client_that_says_nothing_is_sent_away(server: Server) -> None:
    async with Line(Names({}), [], head_seconds=0.05).open() as line:
        assert (await line.says(b"GET http://good.exa")).startswith(b"HTTP/1.1 408")


async def test_clients_that_wait_keep_nobody_away_for_ever(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxy, "MOST_CONNECTIONS", 4)
    authority = f"{GOOD}:{server.port}"
    async with Line(Names({GOOD: [ELSEWHERE]}), [GOOD], head_seconds=0.2).open() as line:
        idle = [await asyncio.open_connection("127.0.0.1", line.port) for _ in range(20)]
        assert (await line.says(get(f"http://{authority}/", authority))).endswith(b"hello")
        for _, writer in idle:
            writer.close()


async def test_many_connections_to_one_host_are_one_question(line: Line, server: Server) -> None:
    authority = f"{GOOD}:{server.port}"
    answers = await asyncio.gather(*(line.says(get(f"http://{authority}/", authority)) for _ in range(60)))
    assert all(answer.endswith(b"hello") for answer in answers)
    assert line.wanted == [authority]
    assert line.reports == [(authority, "")]


async def test_a_host_that_is_not_there_is_told(line: Line) -> None:
    answer = await line.says(b"CONNECT nowhere.example:443 HTTP/1.1\r\nHost: x\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 502 Keen: nowhere.example: its name can't be resolved")


@pytest.mark.parametrize(
    "answer", [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: " + b"a" * 70_000 + b"\r\n\r\n"]
)
async def test_an_answer_that_is_none_ends_the_connection(line: Line, server: Server, answer: bytes) -> None:
    server.answer = answer
    authority = f"{GOOD}:{server.port}"
    assert await line.says(get(f"http://{authority}/", authority)) in (b"", answer)


async def test_when_the_command_has_ended_its_connections_are_closed(server: Server) -> None:
    server.answer = b""
    names = Names({GOOD: [ELSEWHERE]})
    async with Line(names, [GOOD]).open() as line:
        reader, writer = await asyncio.open_connection("127.0.0.1", line.port)
        writer.write(f"CONNECT {GOOD}:{server.port} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), LIMIT)
    assert await asyncio.wait_for(reader.read(), LIMIT) == b""
    writer.close()
