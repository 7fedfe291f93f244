"""What goes wrong between the Chat Completions provider and its server: each is one error in one sentence."""

from __future__ import annotations

import asyncio
import json
import traceback
from typing import Any

import pytest

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import (
    Answer,
    Break,
    Call,
    Fail,
    HttpAnswer,
    NoAnswer,
    RawStream,
    Reply,
    Say,
    Think,
)
from keen_tui.demo.wire_json import sse
from keen_tui.domain.errors import (
    AuthFailed,
    ConnectionFailed,
    ContextExceeded,
    ProviderError,
    ReplyUnreadable,
    RequestRefused,
    ServerBusy,
    StreamCut,
    StreamStalled,
)
from keen_tui.providers.wire.provider import StepPart
from keen_tui.providers.wire.reported import stream_error
from keen_tui.providers.wire.sdk_errors import MESSAGE_LIMIT, ErrorTranslator
from tests.support.chat import delta
from tests.support.client import (
    KEY,
    client_of,
    reply_of,
    request,
    text_of,
)
from tests.support.waiting import LIMIT

HELLO = Reply([Say("Hello, world. This is more than one delta.")])
CALLING = Reply([Think("Let me see."), Say("Reading."), Call("read_file", {"path": "a.py"})])


async def failure_of(answer: Answer, **options: Any) -> ProviderError:
    """The error of one call; no more than one request was made, and no key is anywhere in it."""
    async with ModelServer([answer]) as server:
        error = await failure_at(server, **options)
        assert len(server.requests) == 1
        return error


async def failure_at(server: ModelServer | str, **options: Any) -> ProviderError:
    async with client_of(server, **options) as provider:
        with pytest.raises(ProviderError) as caught:
            async for _ in provider.stream_step(request()):
                pass
    assert KEY not in "".join(traceback.format_exception(caught.value))
    return caught.value


# What goes wrong in the stream


BREAKS = [
    Break("end", after_bytes=0),
    Break("end", after_deltas=2),
    Break("end", in_arguments=True),
    Break("end"),
    Break("close", after_deltas=2),
    Break("close", in_arguments=True),
    Break("close"),
    Break("reset", after_bytes=0),
    Break("reset", after_deltas=2),
    Break("reset", in_arguments=True),
    Break("reset"),
]


@pytest.mark.parametrize("broken", BREAKS, ids=repr)
async def test_a_reply_without_its_end_is_cut(broken: Break) -> None:
    error = await failure_of(Reply(CALLING.parts, broken=broken))
    assert type(error) is StreamCut and error.retryable


async def test_the_text_before_a_reset_was_streamed() -> None:
    seen: list[StepPart] = []
    async with (
        ModelServer([Reply(HELLO.parts, broken=Break("reset"))]) as server,
        client_of(server) as provider,
    ):
        with pytest.raises(StreamCut):
            async for part in provider.stream_step(request()):
                seen.append(part)
    assert text_of(seen) == "Hello, world. This is more than one delta."


async def test_silence_for_the_stall_limit_is_a_stall() -> None:
    for answer in (NoAnswer("stall"), Reply(HELLO.parts, broken=Break("stall", after_deltas=2))):
        error = await failure_of(answer, stall_seconds=0.2)
        assert type(error) is StreamStalled and "0.2 s" in str(error)


async def test_silence_after_the_finish_reason_is_no_stall(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keen_tui.providers.wire.http_provider.AFTER_FINISH", 0.1)
    finished = b"data: " + json.dumps(delta("stop", content="all")).encode() + b"\n\n"
    answer = RawStream(finished, broken=Break("stall", after_bytes=len(finished)))
    async with asyncio.timeout(LIMIT):
        reply = await reply_of([answer], stall_seconds=600.0)
    assert reply.text == "all"


async def test_a_pause_behind_a_usage_chunk_ends_no_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keen_tui.providers.wire.http_provider.AFTER_FINISH", 0.01)
    begun = sse(delta(content="half ")) + sse({"choices": [], "usage": {"prompt_tokens": 1}})
    ended = sse(delta("stop", content="all"))
    reply = await reply_of([RawStream(begun + ended, piece=len(begun), pace=0.3)])
    assert reply.text == "half all"


async def test_what_fails_after_the_finish_reason_spoils_nothing() -> None:
    finished = b"data: " + json.dumps(delta("stop", content="all")).encode() + b"\n\n"
    for rubbish in (b"data: {half\n\n", b'data: {"error": {"message": "no usage today"}}\n\n'):
        assert (await reply_of([RawStream(finished + rubbish)])).text == "all"


@pytest.mark.parametrize("how", ["close", "reset"])
async def test_a_connection_lost_before_the_reply_failed_to_connect(how: Any) -> None:
    error = await failure_of(NoAnswer(how))
    assert type(error) is ConnectionFailed and "127.0.0.1:" in str(error)


async def test_an_error_object_in_the_stream_is_the_providers_sentence() -> None:
    busy = await failure_of(Reply([Say("half"), Fail("The engine is overloaded", code=503)]))
    assert type(busy) is ServerBusy and "The engine is overloaded" in str(busy)
    final = await failure_of(Reply([Fail("No such tool", type="invalid_request_error")]))
    assert type(final) is RequestRefused and "No such tool" in str(final)


async def test_an_error_event_is_an_error_whatever_its_shape() -> None:
    error = await failure_of(RawStream(b'event: error\ndata: {"message": "worn out"}\n\n'))
    assert type(error) is ServerBusy and "worn out" in str(error)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (HttpAnswer(200, "<!doctype html><h1>Log in</h1>"), "a page"),
        (HttpAnswer(200, {"id": "1", "choices": []}), "one JSON document"),
        (HttpAnswer(200, "all is well"), "isn't a stream"),
        (RawStream(b"data: {broken\n\n"), 'isn\'t JSON: "{broken"'),
    ],
)
async def test_an_answer_that_is_no_stream_is_unreadable_in_one_sentence(answer: Answer, words: str) -> None:
    error = await failure_of(answer)
    assert isinstance(error, ReplyUnreadable) and words in str(error)
    assert "<" not in str(error) and len(str(error)) < 120


async def test_an_error_document_with_status_200_is_that_error() -> None:
    error = await failure_of(HttpAnswer(200, {"error": {"message": "no credit", "code": 402}}))
    assert type(error) is RequestRefused and "no credit" in str(error)


# What the server refuses


def refused(status: int, message: str = "the reason", **fields: Any) -> HttpAnswer:
    headers = fields.pop("headers", {})
    return HttpAnswer(status, {"error": {"message": message, **fields}}, headers)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (refused(400), RequestRefused),
        (refused(404), RequestRefused),
        (refused(422), RequestRefused),
        (refused(429, code="insufficient_quota"), RequestRefused),
        (refused(400, code="context_length_exceeded"), ContextExceeded),
        (refused(413), ContextExceeded),
        (refused(408), ServerBusy),
        (refused(409), ServerBusy),
        (refused(500), ServerBusy),
        (refused(529), ServerBusy),
    ],
)
async def test_a_status_is_told_with_the_providers_sentence(
    answer: HttpAnswer, kind: type[ProviderError]
) -> None:
    error = await failure_of(answer)
    assert type(error) is kind and "the reason" in str(error)


async def test_retry_after_is_handed_on() -> None:
    error = await failure_of(refused(429, headers={"Retry-After": "7"}))
    assert type(error) is ServerBusy and error.retry_after == 7


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_is_named_by_its_source_and_never_shown(status: int) -> None:
    error = await failure_of(refused(status, f"Incorrect API key: {KEY}; also sk-proj-abcdefghijkl"))
    assert type(error) is AuthFailed
    assert "TEST_KEY" in str(error)
    assert KEY not in str(error) and "abcdefghijkl" not in str(error)


async def test_a_key_that_the_server_echoes_is_masked_in_every_error() -> None:
    plain = "correcthorsebattery"
    for key in (KEY, plain):
        for answer in (refused(500, f"oops {key}"), Reply([Fail(f"oops {key}")]), HttpAnswer(502, key)):
            assert key not in str(await failure_of(answer, api_key=key))
    for filling in range(350, 420):
        error = stream_error({"error": "x" * filling + plain}, "server")
        assert "corre" not in str(translator(plain).translated(error, in_body=True))


def translator(key: str) -> ErrorTranslator:
    return ErrorTranslator(
        server="server", address="server:443", key_source="TEST_KEY", key=key, stall_seconds=1.0
    )


async def test_a_long_message_is_cut() -> None:
    assert len(str(await failure_of(refused(500, "word " * 2000)))) <= MESSAGE_LIMIT + 1


async def test_a_key_with_a_line_break_inside_is_refused_before_anything_is_sent() -> None:
    async with ModelServer([]) as server:
        error = await failure_at(server, api_key="sk-one\nsk-two")
        assert type(error) is AuthFailed and "TEST_KEY" in str(error)
        assert not server.requests


async def test_an_error_page_is_not_dumped() -> None:
    error = await failure_of(HttpAnswer(502, "<html><body>nginx</body></html>"))
    assert type(error) is ServerBusy and "502" in str(error) and "nginx" not in str(error)


async def test_a_redirect_is_not_followed_and_names_its_target() -> None:
    async with ModelServer([HELLO]) as other:
        target = other.base_url.replace("127.0.0.1", "localhost") + "/chat/completions"
        error = await failure_of(HttpAnswer(307, "", {"location": target}))
        assert not other.requests
    assert type(error) is RequestRefused and target in str(error)


# What can't be reached


async def test_a_refused_connection_names_host_and_port(unused_tcp_port: int) -> None:
    error = await failure_at(f"http://127.0.0.1:{unused_tcp_port}/v1")
    assert type(error) is ConnectionFailed
    assert f"127.0.0.1:{unused_tcp_port}" in str(error) and "refused" in str(error)


async def test_an_unknown_name_is_told() -> None:
    error = await failure_at("http://no-such-host.invalid/v1")
    assert type(error) is ConnectionFailed and "no-such-host.invalid:80" in str(error)


async def test_a_server_without_tls_is_told() -> None:
    async def speak_plainly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    plain = await asyncio.start_server(speak_plainly, "127.0.0.1", 0)
    async with plain:
        port = plain.sockets[0].getsockname()[1]
        error = await failure_at(f"https://127.0.0.1:{port}/v1")
    assert type(error) is ConnectionFailed and "TLS" in str(error)


@pytest.mark.parametrize("base_url", ["localhost:11434", "http://a:b", "ftp://host/v1", "rubbish"])
async def test_a_base_url_that_is_none_is_refused_in_words(base_url: str) -> None:
    error = await failure_at(base_url)
    assert type(error) is RequestRefused and "base URL" in str(error)
