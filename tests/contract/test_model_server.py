"""The scripted model server: what tests and the demo rely on."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Answer, Break, Call, NoAnswer, RecordedRequest, Reply, Say


async def exchange(server: ModelServer, method: str, path: str, body: dict[str, Any]) -> tuple[int, bytes]:
    """Status and raw body of one request, spoken by hand."""
    host, port = server.base_url.removeprefix("http://").removesuffix("/v1").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    content = json.dumps(body).encode()
    writer.write(f"{method} {path} HTTP/1.1\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content)
    head, _, rest = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    await writer.wait_closed()
    return int(head.split(b" ")[1]), rest


async def post(server: ModelServer, **body: Any) -> tuple[int, bytes]:
    return await exchange(server, "POST", "/v1/chat/completions", body)


async def test_a_script_that_is_used_up_says_so() -> None:
    async with ModelServer([Reply([Say("hi")])]) as server:
        assert (await post(server))[0] == 200
        status, body = await post(server)
    assert status == 500 and b"the script is used up" in body


async def test_a_script_may_be_a_function_of_the_request_and_its_failure_is_told() -> None:
    def answer(request: RecordedRequest) -> Answer:
        assert request.body["model"] == "known", "what model is this?"
        return Reply([Say("hi")])

    async with ModelServer(answer) as server:
        assert (await post(server, model="known"))[0] == 200
        status, body = await post(server, model="other")
    assert status == 500 and b"what model is this?" in body


async def test_models_are_listed_and_take_no_answer() -> None:
    async with ModelServer([], models=("one", "two")) as server:
        status, body = await exchange(server, "GET", "/v1/models", {})
        assert not server.requests
    assert status == 200 and [each["id"] for each in json.loads(body)["data"]] == ["one", "two"]


async def test_a_path_that_no_api_has_is_not_found() -> None:
    async with ModelServer([Reply([Say("hi")])]) as server:
        status, _ = await exchange(server, "POST", "/v1/other", {})
    assert status == 404


async def test_usage_is_sent_only_when_asked_for() -> None:
    async with ModelServer([Reply([Say("hi")])] * 2) as server:
        assert b'"usage"' not in (await post(server))[1]
        assert b'"usage"' in (await post(server, stream_options={"include_usage": True}))[1]


async def test_a_break_in_the_arguments_leaves_them_open() -> None:
    call = Call("read_file", {"path": "a/long/path/to/some/file.py"})
    async with ModelServer([Reply([call], broken=Break("end", in_arguments=True))]) as server:
        _, body = await post(server)
    assert b"read_file" in body and b"file.py" not in body and b'finish_reason":"' not in body


async def test_stopping_ends_what_is_still_open() -> None:
    server = ModelServer([NoAnswer("stall")])
    await server.start()
    asking = asyncio.create_task(post(server))
    await server.wait_for_requests(1)
    await server.stop()
    with pytest.raises(IndexError):  # the connection closed without a status line
        await asking
    assert server.open_streams == 0


async def test_a_stopped_server_can_start_again_on_its_port() -> None:
    server = ModelServer([Reply([Say("hi")])])
    await server.start()
    base_url = server.base_url
    await server.stop()
    await server.start()
    assert server.base_url == base_url
    assert (await post(server))[0] == 200
    await server.stop()
