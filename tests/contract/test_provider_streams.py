"""Streams that are odd but whole, and calls that are odd but answered, on every API."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from msgspec.structs import fields, replace

from keen_tui.demo.script import Answer, Break, Call, RawStream, RecordedRequest, Reply, Say, Think
from keen_tui.demo.wires import seen
from keen_tui.domain.events import (
    Notice,
    ReasoningDelta,
    RetryScheduled,
    TextDelta,
    ToolFinished,
    TurnDone,
    TurnError,
    TurnIncomplete,
    Usage,
)
from keen_tui.domain.messages import TokenUsage
from keen_tui.providers.registry import APIS
from keen_tui.providers.wire import http_provider
from tests.support import agent
from tests.support.agent import QUICK_RETRIES, AtWork
from tests.support.faults import WORK, encoded, runs

DONE = Reply([Say("Done.")])
WHOLE = {"text": DONE, "calls": WORK}
EMPTY = {
    "nothing": Reply([]),
    "blank": Reply([Say(" \n")]),
    "only thinking": Reply([Think("hm")]),
    "calls that are none": Reply([], finish="tool_calls"),
}
ODD = Reply([Think("Größe?"), Say("Größe: 3 µm 🙂"), Call("bash", {"command": "echo ran >> counter"})])


def framed(change: Callable[[bytes], bytes], piece: int = 65_536) -> Callable[[RecordedRequest], Answer]:
    """The step as its API encodes it, its bytes changed; after the tool has run, a plain reply."""

    def answer(request: RecordedRequest) -> Answer:
        if seen(request)[-1].role == "tool":
            return DONE
        return RawStream(change(encoded(ODD, request)), piece=piece)

    return answer


def with_strangers(body: bytes) -> bytes:
    """Comments, pings and events of an unknown kind between the events."""
    strange = (
        b': hello\n\nevent: ping\ndata: {"type": "ping"}\n\nevent: new.thing\ndata: {"type": "new.thing"}\n\n'
    )
    return body.replace(b"\n\n", b"\n\n" + strange, 6)


FRAMINGS: dict[str, Callable[[bytes], bytes]] = {
    "as it is": lambda body: body,
    "crlf": lambda body: body.replace(b"\n", b"\r\n"),
    "cr": lambda body: body.replace(b"\n", b"\r"),
    "bom": lambda body: b"\xef\xbb\xbf" + body,
    "no blank after data:": lambda body: body.replace(b"data: ", b"data:"),
    "no last blank line": lambda body: body.removesuffix(b"\n"),
    "strangers": with_strangers,
    "ids and retries": lambda body: body.replace(b"data: ", b"id: 7\nretry: 1\ndata: "),
}


@pytest.mark.parametrize("piece", [1, 7, 65_536])
@pytest.mark.parametrize("change", FRAMINGS.values(), ids=FRAMINGS)
async def test_p25_however_it_is_framed_it_is_read_right(
    tmp_path: Path, at_work: AtWork, change: Callable[[bytes], bytes], piece: int
) -> None:
    async with at_work(framed(change, piece), tmp_path) as bench:
        end = await bench.ask("go")
        assert isinstance(end, TurnDone)
        assert end.text == "Größe: 3 µm 🙂\n\nDone."
        assert "".join(event.text for event in bench.log.of(ReasoningDelta)) == "Größe?"
        assert (tmp_path / "counter").read_text() == "ran\n"
        bench.assert_valid_requests()


@pytest.mark.parametrize("how", ["end", "close", "reset", "stall"])
@pytest.mark.parametrize("reply", WHOLE.values(), ids=WHOLE)
async def test_p12_whatever_follows_the_stop_reason_the_reply_is_whole(
    tmp_path: Path,
    at_work: AtWork,
    reply: Reply,
    how: Literal["end", "close", "reset", "stall"],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http_provider, "AFTER_FINISH", 0.05)

    def script(request: RecordedRequest) -> Answer:
        if seen(request)[-1].role == "tool":
            return DONE
        body = encoded(replace(reply, send_done=False), request)
        return RawStream(body, broken=Break(how, after_bytes=len(body)))

    async with at_work(script, tmp_path, retries=QUICK_RETRIES) as bench:
        assert isinstance(await bench.ask("go"), TurnDone)
        assert bench.log.of(RetryScheduled) == []
        assert len(bench.server.requests) == (2 if reply is WORK else 1)
        assert runs(tmp_path) == ("ran\n" if reply is WORK else "")
        bench.assert_valid_requests()


@pytest.mark.parametrize("empty", EMPTY.values(), ids=EMPTY)
async def test_p20_an_empty_reply_is_said_and_never_asked_again(
    tmp_path: Path, at_work: AtWork, empty: Reply
) -> None:
    async with at_work([empty, WORK, empty, DONE], tmp_path, retries=QUICK_RETRIES) as bench:
        first = await bench.ask("go")
        assert isinstance(first, TurnDone)
        assert first.text.strip() == ""
        assert "empty reply" in bench.log.of(Notice)[0].text
        second = await bench.ask("again")
        assert isinstance(second, TurnIncomplete)
        assert (second.reason, second.text) == ("empty", "I count.")
        assert len(bench.server.requests) == 3
        assert isinstance(await bench.retry(), TurnDone)
        assert runs(tmp_path) == "ran\n"
        bench.assert_valid_requests()


async def test_p21_very_many_and_very_large_deltas_arrive_whole(tmp_path: Path, at_work: AtWork) -> None:
    many, huge = "ab" * 10_000, "x" * 5_000_000
    script = [Reply([Say(many)], delta_size=2), Reply([Say(huge)], delta_size=len(huge))]
    async with at_work(script, tmp_path) as bench:
        first = await bench.ask("many")
        second = await bench.ask("huge")
        assert (first.text, second.text) == (many, huge)
        assert sum(len(event.text) for event in bench.log.of(TextDelta)) == len(many) + len(huge)


async def test_p26_a_second_reply_in_the_body_makes_nothing_double(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work(framed(lambda body: body + body), tmp_path) as bench:
        end = await bench.ask("go")
        assert isinstance(end, TurnDone)
        assert end.text.count("Größe") == 1
        assert (tmp_path / "counter").read_text() == "ran\n"


async def test_p26_a_reply_spliced_into_another_runs_nothing_twice(tmp_path: Path, at_work: AtWork) -> None:
    def spliced(body: bytes) -> bytes:
        events = re.split(rb"(?<=\n\n)", body)
        return b"".join(events[: len(events) // 2]) + body

    broken = framed(spliced)

    def script(request: RecordedRequest) -> Answer:
        return DONE if seen(request)[-1].text.endswith("again") else broken(request)

    async with at_work(script, tmp_path) as bench:
        assert isinstance(await bench.ask("go"), TurnDone | TurnError)
        assert isinstance(await bench.ask("again"), TurnDone)
        counter = tmp_path / "counter"
        assert not counter.exists() or counter.read_text() == "ran\n"
        bench.assert_valid_requests()


@pytest.mark.parametrize(
    "usage", [None, TokenUsage(), TokenUsage(input_tokens=-5, output_tokens=10**15, cached_tokens=-1)]
)
async def test_p28_token_counts_may_be_missing_or_nonsense(
    tmp_path: Path, at_work: AtWork, usage: TokenUsage | None
) -> None:
    async with at_work([replace(DONE, usage=usage)], tmp_path) as bench:
        assert isinstance(await bench.ask("go"), TurnDone)
        for told in bench.log.of(Usage):
            counts = (getattr(told.tokens, each.name) for each in fields(told.tokens))
            assert all(count is None or count >= 0 for count in counts), "nonsense counts as unknown"
            assert told.cost is None


async def test_p28_the_server_may_call_the_model_something_else(tmp_path: Path, at_work: AtWork) -> None:
    renamed = framed(lambda body: body.replace(b'"scripted"', b'"scripted-2026-01-01"'))
    async with at_work(renamed, tmp_path) as bench:
        assert isinstance(await bench.ask("go"), TurnDone)
        assert [request.body["model"] for request in bench.server.requests] == ["scripted"] * 2
        assert bench.session.model == "scripted"


async def test_p15_to_p17_unusable_calls_are_error_results_and_the_turn_goes_on(
    tmp_path: Path, at_work: AtWork
) -> None:
    calls = [
        Call("bash", '{"command": "echo half >> counter'),
        Call("bash", '["a", "list"]'),
        Call("bash", '{"command": null}'),
        Call("bash", '{"command": 5, "extra": true}'),
        Call("bash", '{"command": "a\\u0000b"}'),
        Call("bash", '{"command": "\\ud800"}'),
        Call("write_file", {"path": "big.txt", "content": 7}),
        Call("read_file", {"path": "x" * 1_000_000}),
        Call("no_such_tool", {}),
        Call("", {}),
        Call("ba\u0007sh", {"command": "echo half >> counter"}),
    ]
    async with at_work([Reply(calls, delta_size=100_000), DONE], tmp_path) as bench:
        assert isinstance(await bench.ask("go"), TurnDone)
        assert all(event.result.is_error for event in bench.log.of(ToolFinished))
        assert len(bench.results()) == len(calls)
        assert max(map(len, bench.results())) < 10_000
        assert "read_file" in bench.results()[8], "the known tools are listed"
        assert not (tmp_path / "counter").exists()
        bench.assert_valid_requests()


async def test_p19_nine_calls_between_texts_are_answered_in_order(tmp_path: Path, at_work: AtWork) -> None:
    pairs = [(Say(f"{n} "), Call("bash", {"command": f"echo result {n}"})) for n in range(9)]
    parts = [part for pair in pairs for part in pair]
    async with at_work([Reply(parts), DONE], tmp_path) as bench:
        assert isinstance(await bench.ask("go"), TurnDone)
        assert [f"result {n}" in text for n, text in enumerate(bench.results())] == [True] * 9
        bench.assert_valid_requests()


async def test_p22_the_same_call_again_and_again_is_noticed_and_ends(tmp_path: Path, at_work: AtWork) -> None:
    def always(_: RecordedRequest) -> Answer:
        return Reply([Call("bash", {"command": "true"})])

    async with at_work(always, tmp_path, max_steps=12) as bench:
        end = await bench.ask("go")
        assert isinstance(end, TurnIncomplete)
        assert end.reason == "step_limit"
        notices = [event.text for event in bench.log.of(Notice)]
        assert [re.findall(r"\d+", text) for text in notices] == [["5"], ["10"]]


async def test_the_same_faulted_conversation_reads_the_same_on_every_api(tmp_path: Path) -> None:
    """The request logs, in words of no API, differ in nothing but what each API calls a call."""
    script: list[Answer] = [
        Reply([Think("Hm."), Say("I write."), Call("write_file", {"path": "a.py", "content": "1"})]),
        Reply([Say("Half a sent")], broken=Break("close", after_deltas=1)),
        Reply([Call("bash", {"command": "exit 3"})]),
        Reply([Say("Half a call"), Call("bash", {"command": "x"})], broken=Break("close", in_arguments=True)),
        Reply([Say("Recovered.")]),
        DONE,
    ]
    logs = []
    for api in APIS:
        folder = tmp_path / api
        folder.mkdir()
        async with agent.at_work(script, folder, api=api) as bench:
            assert isinstance(await bench.ask("one"), TurnIncomplete)
            assert isinstance(await bench.ask("two"), TurnIncomplete)
            assert isinstance(await bench.retry(), TurnDone)
            await bench.ask("three")
            shown = "".join(event.text for event in bench.log.of(TextDelta))
            requests = [bench.messages(number) for number in range(len(bench.server.requests))]
        plain = [[(each.role, each.text, _calls(each.calls)) for each in messages] for messages in requests]
        logs.append((shown, plain))
    assert logs[0] == logs[1] == logs[2]


def _calls(calls: object) -> list[tuple[str, object]]:
    return [(call.name, call.arguments) for call in calls]  # type: ignore[attr-defined]
