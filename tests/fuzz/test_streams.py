"""Whatever bytes a server sends, a call ends in a whole reply or in an error with a name (R1, R2, R3)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from keen_tui.demo.script import Call, Reply
from keen_tui.domain.choices import Api
from keen_tui.domain.errors import ProviderError
from keen_tui.domain.messages import StepReply, ToolCall, ToolResult
from keen_tui.memory.pending import PendingTrace
from keen_tui.providers.registry import APIS
from keen_tui.providers.wire.provider import StepText
from tests.fuzz.bodies import body_of, cut_in_pieces, mistreated, replies
from tests.fuzz.budget import examples
from tests.fuzz.canned import PATHS, canned
from tests.support.client import request, text_of
from tests.support.wire import VALIDATORS

Outcome = StepReply | ProviderError
apis = st.sampled_from(APIS)


def outcome(api: Api, pieces: Sequence[bytes]) -> Outcome:
    """What comes of a call; asserts that the reply is the last part, and that its text has streamed."""

    async def call() -> Outcome:
        parts = []
        try:
            async for part in canned(api, pieces).stream_step(request()):
                parts.append(part)
        except ProviderError as error:
            assert not any(isinstance(part, StepReply) for part in parts), "one outcome"
            assert str(error).strip(), "an error says what is wrong"
            return error
        *streamed, reply = parts
        assert isinstance(reply, StepReply)
        half_a_pair = "\ufffd"  # known to be none only at the end, when nothing streams any more
        assert reply.text in (text_of(streamed), text_of(streamed) + half_a_pair)
        assert all(part.text for part in streamed if isinstance(part, StepText)), "no empty deltas"
        return reply

    return asyncio.run(call())


def told(found: Outcome) -> object:
    """An outcome, in a form that can be compared: ids that a server left out are made up."""
    if isinstance(found, ProviderError):
        return type(found), str(found)
    calls = [(call.name, call.arguments, call.problem) for call in found.tool_calls]
    return found.text, calls, found.stop_reason, found.usage


def assert_can_be_answered(api: Api, reply: StepReply) -> None:
    """The request that follows, with one result for each call, is one that the API accepts."""
    ids = [call.id for call in reply.tool_calls]
    assert len(set(ids)) == len(ids) and all(ids)
    if not ids:
        return  # then the turn is over, and nothing of it goes out as it came
    provider = canned(api, ())
    results = provider.tool_results([(call, ToolResult(text="ok")) for call in reply.tool_calls])
    trace = PendingTrace(1, (*reply.native, *results))
    after = request(traces=[trace])
    body = provider.body(after)
    VALIDATORS[PATHS[api]](body)
    assert json.loads(provider.encoded(after)) == json.loads(json.dumps(body))


def whole_calls(reply: StepReply) -> list[ToolCall]:
    return [call for call in reply.tool_calls if call.problem is None]


def sent_arguments(reply: Reply) -> list[Mapping[str, Any]]:
    """The arguments of the calls of a script that are JSON objects, as JSON gives them back."""
    found = []
    for part in reply.parts:
        if isinstance(part, Call):
            raw = part.arguments if isinstance(part.arguments, str) else json.dumps(part.arguments)
            try:
                found.append(json.loads(raw or "{}"))
            except ValueError:
                continue
    return found


@examples(150, 5_000)
@given(apis, st.data())
def test_however_the_bytes_arrive_the_reply_is_the_same(api: Api, data: st.DataObject) -> None:
    body = data.draw(replies.map(lambda reply: body_of(api, reply)) | mistreated(api))
    found = outcome(api, data.draw(cut_in_pieces(body)))
    assert told(found) == told(outcome(api, [body]))


@examples(150, 5_000)
@given(apis, replies, st.data())
def test_a_stream_that_is_cut_anywhere_holds_no_call_that_was_not_sent_whole(
    api: Api, reply: Reply, data: st.DataObject
) -> None:
    body = body_of(api, reply)
    end = data.draw(st.integers(0, len(body)))
    found = outcome(api, data.draw(cut_in_pieces(body[:end])))
    if isinstance(found, StepReply):
        sent = [_mended(arguments) for arguments in sent_arguments(reply)]
        for call in whole_calls(found):
            assert _mended(call.arguments) in sent
        assert_can_be_answered(api, found)
    if reply.send_finish and end == len(body):
        assert isinstance(found, StepReply), "a whole stream is a whole reply"


def _mended(arguments: object) -> object:
    """Without lone surrogates, which nobody can send."""
    return json.loads(json.dumps(arguments, ensure_ascii=False).encode("utf-8", "replace"))


@examples(250, 10_000)
@given(apis, st.data())
def test_whatever_a_server_sends_there_is_one_outcome_and_it_can_be_answered(
    api: Api, data: st.DataObject
) -> None:
    found = outcome(api, data.draw(cut_in_pieces(data.draw(mistreated(api)))))
    if isinstance(found, StepReply):
        assert_can_be_answered(api, found)


@examples(100, 5_000)
@given(
    apis, st.lists(st.binary(max_size=40), max_size=4), st.sampled_from(["data: ", "data: {", "{", "<", ""])
)
def test_bytes_that_are_no_stream_at_all_are_an_error(api: Api, pieces: list[bytes], first: str) -> None:
    found = outcome(api, [first.encode(), *pieces])
    assert isinstance(found, ProviderError) or not found.tool_calls
