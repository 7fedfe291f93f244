"""A turn that failed goes on with another key, model, server or API (P05, P29); keys stay in (P27, P31)."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Answer, Break, Fail, HttpAnswer, RecordedRequest, Reply, Say, Seen
from keen_tui.domain.choices import Api
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.events import ModelChanged, TurnAbandoned, TurnDone, TurnError, TurnIncomplete
from keen_tui.providers.registry import APIS
from keen_tui.providers.wire import http_provider
from keen_tui.providers.wire.http_provider import HttpProvider
from tests.support.agent import QUICK_RETRIES, AtWork, Bench
from tests.support.faults import DONE, WORK, refused, runs

CUT = Reply([Say("This sentence is cut in the mid")], broken=Break("close", after_deltas=2))
FAULTED = [WORK, CUT, CUT, DONE, DONE]
"""One step of work, a cut, a cut retry, then all is well."""


def keys_sent(request: RecordedRequest) -> str:
    return request.headers.get("x-api-key") or request.headers["authorization"].removeprefix("Bearer ")


@pytest.mark.parametrize("first", [[], [WORK]], ids=["first step", "after a step"])
async def test_p05_a_better_key_goes_on_where_the_wrong_one_failed(
    tmp_path: Path, at_work: AtWork, first: list[Answer]
) -> None:
    async with at_work([*first, refused(401, "wrong key"), DONE], tmp_path, retries=QUICK_RETRIES) as bench:
        end = await bench.ask("go")
        assert isinstance(end, TurnIncomplete if first else TurnError)
        assert end.reason == "auth"
        assert "TEST_KEY" in end.detail and "test-key" not in end.detail
        bench.switch(api_key="better-key")
        assert isinstance(await bench.retry(), TurnDone)
        assert [keys_sent(request) for request in bench.server.requests][-2:] == ["test-key", "better-key"]
        assert runs(tmp_path) == "ran\n" * len(first)
        bench.assert_valid_requests()


async def twice_cut(bench: Bench) -> None:
    """A turn with work, cut, tried again and cut again: only its time has grown."""
    assert isinstance(await bench.ask("go"), TurnIncomplete)
    kept = bench.session.pending
    assert isinstance(await bench.retry(), TurnIncomplete)
    again = bench.session.pending
    assert kept and again and replace(again, seconds=kept.seconds) == kept


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("model", ["scripted", "other"])
async def test_p29_after_two_faults_another_model_goes_on_or_is_told_what_was_left(
    tmp_path: Path, at_work: AtWork, api: Api, model: str
) -> None:
    async with at_work(FAULTED, tmp_path) as bench:
        await twice_cut(bench)
        own = bench.session.identity.api
        if api == own and (model == "scripted" or api == "openai-chat"):
            bench.switch(api, model=model)
            assert isinstance(await bench.retry(), TurnDone)
            assert [message.role for message in bench.messages()] == ["user", "assistant", "tool"]
        else:
            await assert_asks_and_abandons(bench, api, model)
        assert bench.server.requests[-1].body["model"] == model
        assert bench.session.pending is None
        assert runs(tmp_path) == "ran\n"
        await bench.ask("and now?")
        bench.assert_valid_requests()


async def assert_asks_and_abandons(bench: Bench, api: Api, model: str) -> None:
    """turn.md rule 8: unasked, nothing changes; asked, one message stands for the work."""
    kept, conversation = bench.session.pending, bench.session.conversation
    with pytest.raises(SessionRefused, match="retry"):
        bench.switch(api, model=model)
    assert (bench.session.pending, bench.session.conversation) == (kept, conversation)
    assert bench.log.of(ModelChanged) == []
    bench.switch(api, abandon=True, model=model)
    await bench.log.wait_for(TurnAbandoned)
    assert isinstance(await bench.ask("next"), TurnDone)
    assert bench.messages() == [
        Seen("user", "go"),
        Seen("assistant", "(turn abandoned)"),
        Seen("user", "next"),
    ]


async def test_p29_another_server_does_not_get_pending_work(
    tmp_path: Path, at_work: AtWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that isn't on this machine, where a port may change."""
    async with ModelServer([DONE]) as other, at_work(FAULTED, tmp_path) as bench:
        monkeypatch.setattr(http_provider, "is_loopback", lambda url: url != other.base_url)
        await twice_cut(bench)
        with pytest.raises(SessionRefused, match="retry"):
            bench.switch(base_url=other.base_url)
        bench.switch(base_url=other.base_url, abandon=True)
        assert isinstance(await bench.ask("next"), TurnDone)
        assert len(other.requests) == 1


async def test_p27_a_redirect_takes_the_key_nowhere(tmp_path: Path, at_work: AtWork) -> None:
    async with ModelServer([DONE]) as other:
        target = other.base_url.replace("127.0.0.1", "localhost")
        aways = [HttpAnswer(status, "", {"location": target}) for status in (301, 302, 303, 307, 308)]
        async with at_work([*aways, DONE], tmp_path, retries=QUICK_RETRIES) as bench:
            for count in range(1, 6):
                end = await (bench.retry() if count > 1 else bench.ask("go"))
                assert isinstance(end, TurnError)
                assert target in end.detail
                assert len(bench.server.requests) == count
            assert other.requests == []
            assert isinstance(await bench.retry(), TurnDone)


ECHO = "the key test-key in 'Authorization: Bearer test-key' and sk-abcdefghijklmnop are wrong"
ECHOES: dict[str, Any] = {
    "401": refused(401, ECHO),
    "403 in text": HttpAnswer(403, ECHO),
    "429": refused(429, ECHO),
    "500": refused(500, ECHO),
    "400 in a list": HttpAnswer(
        400, '[{"error": {"message": "' + ECHO + '"}}]', {"content-type": "application/json"}
    ),
    "document": HttpAnswer(200, {"error": {"message": ECHO}}),
    "stream": Reply([Say("Half"), Fail(ECHO)]),
    "redirect": HttpAnswer(
        302, "", {"location": "http://127.0.0.1:9/?key=test-key&other=sk-abcdefghijklmnop"}
    ),
    "a long way in": refused(500, "x" * 380 + ECHO),
}


@pytest.mark.parametrize("first", [[], [WORK]], ids=["first step", "after a step"])
@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
async def test_p31_a_key_that_the_server_echoes_is_masked_everywhere(
    tmp_path: Path, at_work: AtWork, caplog: pytest.LogCaptureFixture, echo: Answer, first: list[Answer]
) -> None:
    caplog.set_level(logging.DEBUG, "keen_tui")
    async with at_work([*first, echo, echo, echo, echo, DONE], tmp_path, retries=QUICK_RETRIES) as bench:
        end = await bench.ask("go")
        assert isinstance(end, TurnIncomplete if first else TurnError)
        assert "[key]" in end.detail or "x" * 350 in end.detail
        told = [repr(bench.log.events), repr(bench.session.conversation), repr(bench.session.pending)]
        for text in (*told, caplog.text):
            assert "test-key" not in text and "sk-abc" not in text
        await bench.retry()


async def test_p31_what_holds_a_key_does_not_show_it(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([DONE], tmp_path) as bench:
        await bench.ask("go")
        assert isinstance(bench.provider, HttpProvider)
        shown = repr((bench, bench.provider, bench.provider.connection, bench.session.identity))
        assert "127.0.0.1" in shown and "test-key" not in shown
