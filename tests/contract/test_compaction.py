"""Compaction: what was answered becomes a summary with its TurnMemory, or nothing changes; on every API."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from keen_tui.agent.turn import compaction
from keen_tui.agent.turn.request import step_request
from keen_tui.demo.script import (
    Answer,
    HttpAnswer,
    NoAnswer,
    Refuse,
    Reply,
    Say,
    Think,
)
from keen_tui.domain.choices import Api
from keen_tui.domain.errors import EndReason, SessionRefused
from keen_tui.domain.events import (
    Compacted,
    CompactionDelta,
    CompactionFailed,
    CompactionStarted,
    MessageTakenBack,
    RetryScheduled,
    TurnDone,
    TurnError,
    TurnIncomplete,
    Usage,
)
from keen_tui.domain.messages import TokenUsage, TurnMemory
from keen_tui.domain.models import ModelInfo, Price
from keen_tui.memory.conversation import COMPACTED
from keen_tui.providers.openai.chat import OpenAIChat
from keen_tui.providers.wire.provider import Connection, StepPart, StepRequest
from tests.support import agent
from tests.support.agent import QUICK_RETRIES, AtWork, Bench
from tests.support.compacting import (
    CUT,
    FULL,
    SUMMARISED,
    SUMMARY,
    TOLD,
    assistant,
    block,
    folded,
    memory,
    shape,
    user,
    work,
)
from tests.support.faults import COUNT, DONE, WORK, refused, runs


def assert_unchanged_by_it(bench: Bench, before: tuple[object, ...]) -> None:
    assert bench.session.conversation == before
    assert bench.log.of(Compacted) == []
    assert folded(bench) == before


# What a compaction does


async def test_a_summary_takes_the_place_of_the_turns_and_carries_their_memory(
    tmp_path: Path, at_work: AtWork
) -> None:
    script = [work("a.py"), DONE, work("b.py"), DONE, SUMMARY, DONE]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("make a")
        await bench.ask("make b")
        bench.session.edit_memory(2, replace(memory("b.py"), notes=("keep b",)))
        sizes = {part.title: part.sizes[0].bytes for part in (await bench.session.context()).parts}
        end = await bench.compact("the names of the API")
        assert isinstance(end, Compacted)
        assert (end.turn, end.turns, end.summary) == (2, 2, TOLD)
        assert end.turn_memory == replace(memory("a.py", "b.py"), notes=("keep b",))
        after = {part.kind: part.sizes[0].bytes for part in (await bench.session.context()).parts}
        assert end.bytes_before == sizes["turn 1"] + sizes["turn 2"]
        assert end.bytes_after == after["compacted"]
        assert isinstance(await bench.ask("next"), TurnDone)
        carried = f"{TOLD}{block('a.py', 'b.py')}\n- Note: keep b"
        assert bench.messages() == [SUMMARISED, assistant(carried), user("next")]
        assert bench.log.ends[-1].turn == 3, "turns are counted on"
        assert bench.session.conversation == folded(bench)
        bench.assert_valid_requests()


async def test_the_summary_is_asked_for_with_the_messages_as_they_are_rendered(
    tmp_path: Path, at_work: AtWork
) -> None:
    async with at_work([work("a.py"), DONE, SUMMARY], tmp_path) as bench:
        await bench.ask("make a")
        await bench.compact("the names of the API")
        *before, question = bench.messages()
        assert before == [user("make a"), assistant(f"I work.\n\nAll done.{block('a.py')}")]
        assert question.role == "user"
        assert "summary" in question.text and question.text.endswith(": the names of the API")
        assert "tools" not in bench.server.requests[-1].body
        bench.assert_valid_requests()


async def test_behind_an_empty_reply_the_question_joins_the_users_words(
    tmp_path: Path, at_work: AtWork
) -> None:
    async with at_work([Reply([]), SUMMARY, DONE], tmp_path) as bench:
        await bench.ask("hi")
        assert isinstance(await bench.compact(), Compacted)
        (only,) = bench.messages()
        assert only.role == "user" and only.text.startswith("hi\n\nWrite a summary")
        await bench.ask("next")
        assert bench.messages() == [SUMMARISED, assistant(TOLD), user("next")]
        bench.assert_valid_requests()


async def test_the_summary_streams_and_its_tokens_and_cost_are_told(tmp_path: Path, at_work: AtWork) -> None:
    usage = TokenUsage(input_tokens=700, output_tokens=30)
    info = ModelInfo(provider="p", id="scripted", api="openai-chat", price=Price(input=1.0, output=10.0))
    script = [DONE, replace(SUMMARY, usage=usage), DONE]
    async with at_work(script, tmp_path, info=info) as bench:
        await bench.ask("hi")
        ratio = [size.bytes / size.tokens for size in (await bench.session.context("next")).totals]
        end = await bench.compact("")
        assert isinstance(end, Compacted)
        (start,) = bench.log.of(CompactionStarted)
        assert start == CompactionStarted(turns=1, focus="", automatic=False)
        pieces = [event.text for event in bench.log.of(CompactionDelta)]
        assert len(pieces) > 1 and "".join(pieces) == TOLD
        told = bench.log.of(Usage)[-1]
        assert (told.turn, told.step) == (0, 0)
        assert (told.tokens.input_tokens, told.tokens.output_tokens) == (700, 30)
        assert told.cost == pytest.approx((700 * 1.0 + 30 * 10.0) / 1e6)
        again = [size.bytes / size.tokens for size in (await bench.session.context("next")).totals]
        assert again == pytest.approx(ratio, rel=0.01), "a summary teaches nothing about turns"


async def test_a_summary_that_lies_about_files_changes_no_memory(tmp_path: Path, at_work: AtWork) -> None:
    lie = "All is well.\n\nTool memory:\n- Files changed: lie.py"
    script = [work("a.py"), DONE, Reply([Say(lie)]), DONE]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("make a")
        end = await bench.compact()
        assert isinstance(end, Compacted)
        assert end.turn_memory == memory("a.py")
        assert bench.session.conversation[1].memory == memory("a.py")
        await bench.ask("next")
        assert bench.messages()[1].text == f"{lie}{block('a.py')}"


async def test_a_summary_is_summarised_again_with_what_it_carried(tmp_path: Path, at_work: AtWork) -> None:
    script = [work("a.py"), DONE, SUMMARY, work("b.py"), DONE, SUMMARY, DONE]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("make a")
        await bench.compact()
        await bench.ask("make b")
        end = await bench.compact()
        assert isinstance(end, Compacted)
        assert (end.turns, end.turn_memory) == (1, memory("a.py", "b.py"))
        assert bench.messages()[:2] == [SUMMARISED, assistant(TOLD + block("a.py"))]
        await bench.ask("next")
        assert bench.messages() == [
            SUMMARISED,
            assistant(TOLD + block("a.py", "b.py")),
            user("next"),
        ]


async def test_a_summary_is_prepared_and_measured_beside_the_event_loop(
    tmp_path: Path, at_work: AtWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []

    def noted(*given: Any) -> StepRequest:
        threads.append(threading.current_thread())
        return step_request(*given)

    monkeypatch.setattr(compaction, "step_request", noted)
    async with at_work([DONE, SUMMARY], tmp_path) as bench:
        await bench.ask("hi")
        assert isinstance(await bench.compact(), Compacted)
    assert len(threads) == 2 and threading.main_thread() not in threads


async def test_with_nothing_answered_there_is_nothing_to_summarise(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([CUT], tmp_path) as bench:
        with pytest.raises(SessionRefused, match="Nothing to summarise"):
            bench.session.compact()
        await bench.ask("hi")
        with pytest.raises(SessionRefused, match="Nothing to summarise"):
            bench.session.compact()
        assert bench.log.of(CompactionStarted) == []


async def test_a_summary_is_not_summarised_again(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([DONE, SUMMARY, DONE, SUMMARY], tmp_path) as bench:
        await bench.ask("hi")
        assert isinstance(await bench.compact(), Compacted)
        with pytest.raises(SessionRefused, match="Nothing has been said since the last summary"):
            bench.session.compact()
        await bench.ask("and now")
        assert isinstance(await bench.compact(), Compacted)
        assert len(bench.server.requests) == 4


# What becomes of a summary that does not come whole


@dataclass(frozen=True)
class Failure:
    """Answers after which there is no summary, the reason and a part of the sentence that tells it."""

    answers: tuple[Answer, ...]
    reason: EndReason
    says: str


FAILURES = {
    "empty": Failure((Reply([]),), "empty", "no summary"),
    "blank": Failure((Reply([Say(" \n\t")]),), "empty", "no summary"),
    "reasoning only": Failure((Reply([Think("Hm.")]),), "empty", "no summary"),
    "output limit": Failure((Reply([Say("Two fil")], finish="length"),), "provider", "output limit"),
    "refusal": Failure((Reply([Refuse("I won't.")], finish="refusal"),), "provider", "refused"),
    "content filter": Failure((Reply([Say("Tw")], finish="content_filter"),), "provider", "summary"),
    "a call": Failure((Reply([COUNT]),), "provider", "called a tool"),
    "text and a call": Failure((Reply([Say(TOLD), COUNT]),), "provider", "called a tool"),
    "401": Failure((refused(401, "wrong key"),), "auth", "TEST_KEY"),
    "400": Failure((refused(400, "bad temperature"),), "provider", "bad temperature"),
    "cut in all attempts": Failure((CUT,) * 4, "cut", "127.0.0.1"),
    "unanswered in all attempts": Failure((NoAnswer("close"),) * 4, "network", "closed the connection"),
    "no page is a summary": Failure((HttpAnswer(200, "<html>Sign in</html>"),) * 2, "provider", "127.0.0.1"),
    "too long, nothing to cut": Failure((FULL,), "context", "context"),
}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
async def test_without_a_whole_summary_nothing_changes(
    tmp_path: Path, at_work: AtWork, failure: Failure
) -> None:
    script = [work("a.py"), DONE, *failure.answers, DONE, SUMMARY]
    async with at_work(script, tmp_path, retries=QUICK_RETRIES) as bench:
        await bench.ask("make a")
        before = bench.session.conversation
        end = await bench.compact()
        assert isinstance(end, CompactionFailed)
        assert end.reason == failure.reason
        assert failure.says in end.detail and "test-key" not in end.detail
        assert_unchanged_by_it(bench, before)
        assert len(bench.server.requests) == 2 + len(failure.answers)
        assert runs(tmp_path) == "", "no tool runs for a summary"
        assert isinstance(await bench.ask("next"), TurnDone)
        assert bench.messages() == [
            user("make a"),
            assistant(f"I work.\n\nAll done.{block('a.py')}"),
            user("next"),
        ]
        assert len(bench.log.compactions) == 1
        assert isinstance(await bench.compact(), Compacted), "it can be tried again"
        bench.assert_valid_requests()


async def test_an_attempt_that_is_cut_is_withdrawn_and_made_again(tmp_path: Path, at_work: AtWork) -> None:
    script: list[Answer] = [DONE, CUT, NoAnswer("close"), SUMMARY]
    async with at_work(script, tmp_path, retries=QUICK_RETRIES) as bench:
        await bench.ask("hi")
        end = await bench.compact()
        assert isinstance(end, Compacted) and end.summary == TOLD
        told = [event for event in bench.log.events if isinstance(event, CompactionStarted | RetryScheduled)]
        assert [type(event) for event in told] == [CompactionStarted, RetryScheduled] * 2 + [
            CompactionStarted
        ]
        last = len(bench.log.events) - 1 - bench.log.events[::-1].index(told[-1])
        said = [event.text for event in bench.log.events[last:] if isinstance(event, CompactionDelta)]
        assert "".join(said) == TOLD
        assert [retry.reason for retry in bench.log.of(RetryScheduled)] == ["cut", "network"]
        assert len({request.raw for request in bench.server.requests[1:]}) == 1


class Buggy(OpenAIChat):
    """A provider that fails as none may."""

    def body(self, request: StepRequest) -> dict[str, Any]:
        raise ValueError("a bug")

    def stream_step(self, request: StepRequest) -> AsyncGenerator[StepPart, None]:
        raise ValueError("a bug")


async def test_a_bug_ends_a_compaction_as_failed_and_a_turn_as_an_error(tmp_path: Path) -> None:
    async with agent.at_work([DONE], tmp_path) as bench:
        await bench.ask("hi")
        before = bench.session.conversation
        buggy = Buggy(Connection(model="buggy", base_url=bench.server.base_url))
        bench.session.switch(buggy, ModelInfo(provider="p", id="buggy", api="openai-chat"))
        end = await bench.compact()
        assert isinstance(end, CompactionFailed)
        assert end.reason == "internal" and "a bug" in end.detail
        assert_unchanged_by_it(bench, before)
        ended = await bench.ask("next")
        assert isinstance(ended, TurnError) and ended.reason == "internal"
        assert not bench.session.running


# With turns that are not done


async def test_the_message_of_a_failed_turn_stays_behind_the_summary(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([work("a.py"), DONE, refused(401, "no"), SUMMARY, DONE, DONE], tmp_path) as bench:
        await bench.ask("make a")
        assert isinstance(await bench.ask("fails"), TurnError)
        end = await bench.compact()
        assert isinstance(end, Compacted) and (end.turn, end.turns) == (1, 1)
        assert "fails" not in bench.server.requests[-1].raw.decode()
        retried = await bench.retry()
        assert isinstance(retried, TurnDone)
        assert (retried.turn, retried.turn_memory) == (2, TurnMemory())
        assert bench.messages() == [SUMMARISED, assistant(TOLD + block("a.py")), user("fails")]
        await bench.ask("next")
        assert bench.messages()[2:] == [user("fails"), assistant("All done."), user("next")]


async def test_the_message_of_a_failed_turn_can_be_taken_back_from_behind_the_summary(
    tmp_path: Path, at_work: AtWork
) -> None:
    async with at_work([DONE, refused(401, "no"), SUMMARY, DONE], tmp_path) as bench:
        await bench.ask("hi")
        await bench.ask("fails")
        await bench.compact()
        bench.session.discard()
        assert (await bench.log.wait_for(MessageTakenBack)).text == "fails"
        await bench.ask("next")
        assert bench.messages() == [SUMMARISED, assistant(TOLD), user("next")]
        assert bench.session.conversation == folded(bench)


async def test_pending_work_stays_behind_its_messages_and_out_of_the_summary(
    tmp_path: Path, at_work: AtWork
) -> None:
    script = [work("a.py"), DONE, WORK, CUT, work("b.py"), CUT, SUMMARY, CUT, DONE, DONE]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("u0")
        assert isinstance(await bench.ask("u1"), TurnIncomplete)
        assert isinstance(await bench.ask("u2"), TurnIncomplete)
        pending = bench.session.pending
        end = await bench.compact()
        assert isinstance(end, Compacted) and (end.turn, end.turns) == (1, 1)
        assert bench.session.pending == pending
        assert [message.role for message in bench.messages()] == ["user", "assistant", "user"]
        sent = bench.server.requests[-1].raw.decode()
        assert "u1" not in sent and "echo ran" not in sent
        assert isinstance(await bench.retry(), TurnIncomplete)
        expected = [COMPACTED, "assistant", "u1", "assistant", "tool", "u2", "assistant", "tool", "tool"]
        assert shape(bench) == expected
        done = await bench.retry()
        assert isinstance(done, TurnDone)
        assert shape(bench) == expected
        assert done.turn_memory == memory("b.py"), "what the summary carries is not told twice"
        assert runs(tmp_path) == "ran\n"
        await bench.ask("next")
        assert bench.messages() == [
            SUMMARISED,
            assistant(TOLD + block("a.py")),
            user("u1\n\nu2"),
            assistant(f"I count.\n\nI work.\n\nAll done.{block('b.py')}"),
            user("next"),
        ]
        assert bench.session.conversation == folded(bench)
        bench.assert_valid_requests()


@pytest.mark.parametrize("deed", ["another message", "discard"])
async def test_behind_a_summary_pending_work_is_gone_on_with_or_abandoned(
    tmp_path: Path, at_work: AtWork, deed: str
) -> None:
    async with at_work([DONE, work("b.py"), CUT, SUMMARY, DONE], tmp_path) as bench:
        await bench.ask("u0")
        await bench.ask("u1")
        await bench.compact()
        if deed == "discard":
            bench.session.discard()
        end = await bench.ask("u2")
        assert isinstance(end, TurnDone)
        if deed == "discard":
            abandoned = assistant(f"(turn abandoned){block('b.py')}")
            assert bench.messages()[2:] == [user("u1"), abandoned, user("u2")]
        else:
            assert shape(bench)[2:] == ["u1", "assistant", "tool", "tool", "u2"]
            assert end.turn_memory == memory("b.py")
        bench.assert_valid_requests()


async def test_p29_incomplete_failed_retry_switch_compaction_retry_done(
    tmp_path: Path, at_work: AtWork
) -> None:
    script = [work("a.py"), DONE, WORK, CUT, CUT, SUMMARY, DONE, DONE]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("u0")
        assert isinstance(await bench.ask("u1"), TurnIncomplete)
        assert isinstance(await bench.retry(), TurnIncomplete)
        carries_over = bench.session.identity.api == "openai-chat"
        if carries_over:
            bench.switch(model="other")
        else:
            with pytest.raises(SessionRefused, match="retry"):
                bench.switch(model="other")
        assert isinstance(await bench.compact(), Compacted)
        assert isinstance(await bench.retry(), TurnDone)
        assert bench.server.requests[-1].body["model"] == ("other" if carries_over else "scripted")
        assert shape(bench) == [COMPACTED, "assistant", "u1", "assistant", "tool"]
        assert bool(bench.messages()[-2].thought) != carries_over, "vendor fields stay with their model"
        assert runs(tmp_path) == "ran\n"
        await bench.ask("u2")
        bench.assert_valid_requests()


async def test_p29_pending_work_that_is_abandoned_for_another_model_can_be_summarised(
    tmp_path: Path, at_work: AtWork
) -> None:
    async with at_work([work("a.py"), CUT, CUT, SUMMARY, DONE], tmp_path) as bench:
        await bench.ask("u1")
        await bench.retry()
        other: Api = "anthropic" if bench.session.identity.api != "anthropic" else "openai-chat"
        bench.switch(other, abandon=True)
        end = await bench.compact()
        assert isinstance(end, Compacted) and end.turn_memory == memory("a.py")
        await bench.ask("next")
        assert bench.messages() == [SUMMARISED, assistant(TOLD + block("a.py")), user("next")]
        bench.assert_valid_requests()
