"""Room in the context window: compaction by itself before a turn, and after an overflow; on every API."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from keen_tui.demo.script import Answer, Call, NoAnswer, Reply, Say, Seen
from keen_tui.domain.choices import PolicyName
from keen_tui.domain.events import (
    Compacted,
    CompactionDelta,
    CompactionFailed,
    CompactionStarted,
    TurnDone,
    TurnError,
    TurnIncomplete,
    TurnStarted,
)
from keen_tui.domain.messages import TokenUsage
from keen_tui.domain.models import ModelInfo
from tests.support.agent import AtWork, Bench
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
    requested,
    shape,
    user,
    work,
)
from tests.support.faults import DONE, WORK, refused, runs

LONG = Reply([Say("A long answer. " * 2_000)], usage=None, delta_size=4_000)
SHORT = Reply([Say("Short.")], usage=None)
BRIEF = replace(SUMMARY, usage=None)


def window(tokens: int | None) -> ModelInfo:
    return ModelInfo(provider="p", id="scripted", api="openai-chat", context_window=tokens)


async def estimate(bench: Bench, draft: str) -> int:
    """Tokens of the next request, as it is estimated."""
    return (await bench.session.context(draft)).totals[0].tokens


# By itself


async def test_before_a_turn_that_would_nearly_fill_the_window_it_is_summarised_by_itself(
    tmp_path: Path, at_work: AtWork
) -> None:
    async with at_work([LONG, BRIEF, SHORT, SHORT], tmp_path, info=window(9_000)) as bench:
        await bench.ask("u1")
        assert isinstance(await bench.ask("u2"), TurnDone)
        (start,) = bench.log.of(CompactionStarted)
        assert start == CompactionStarted(turns=1, focus="", automatic=True)
        began = bench.log.events.index(bench.log.of(TurnStarted)[1])
        assert bench.log.events.index(start) > began, "the turn has begun, it can be stopped"
        assert bench.messages() == [SUMMARISED, assistant(TOLD), user("u2")]
        assert [message.role for message in bench.messages(1)] == ["user", "assistant", "user"]
        assert "u2" not in bench.messages(1)[-1].text
        await bench.ask("u3")
        assert bench.messages()[2:] == [user("u2"), assistant("Short."), user("u3")]
        assert bench.session.conversation == folded(bench)
        assert len(bench.log.compactions) == 1
        bench.assert_valid_requests()


@pytest.mark.parametrize("tokens", [None, 1_000_000])
async def test_without_a_window_or_far_below_it_nothing_is_summarised(
    tmp_path: Path, at_work: AtWork, tokens: int | None
) -> None:
    async with at_work([LONG, SHORT], tmp_path, info=window(tokens)) as bench:
        await bench.ask("u1")
        await bench.ask("u2")
        assert bench.log.of(CompactionStarted) == []


@pytest.mark.parametrize(("more", "expected"), [(0, 0), (-2, 1)])
async def test_the_share_of_the_window_is_the_setting(
    tmp_path: Path, at_work: AtWork, more: int, expected: int
) -> None:
    async with at_work([LONG, BRIEF, SHORT], tmp_path, compact_at=50) as bench:
        await bench.ask("u1")
        bench.session.state.info = window(2 * await estimate(bench, "u2") + more)
        await bench.ask("u2")
        assert len(bench.log.of(CompactionStarted)) == expected


@pytest.mark.parametrize("compact_at", [0, 101])
async def test_it_can_be_set_never_to_happen(tmp_path: Path, at_work: AtWork, compact_at: int) -> None:
    async with at_work([LONG, SHORT], tmp_path, compact_at=compact_at) as bench:
        await bench.ask("u1")
        bench.session.state.info = window(await estimate(bench, "u2"))
        await bench.ask("u2")
        assert bench.log.of(CompactionStarted) == []


async def test_inside_a_turn_nothing_is_summarised(tmp_path: Path, at_work: AtWork) -> None:
    (tmp_path / "big.txt").write_text("a line\n" * 4_000)
    read = Reply([Call("read_file", {"path": "big.txt"})], usage=None)
    async with at_work([SHORT, read, read, SHORT], tmp_path, info=window(6_000)) as bench:
        await bench.ask("u1")
        await bench.ask("u2")
        assert max(len(request.raw) for request in bench.server.requests) > 6_000 * 4
        assert bench.log.of(CompactionStarted) == []


async def test_what_is_a_summary_already_is_not_summarised_again(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([LONG, BRIEF, NoAnswer("close"), SHORT], tmp_path, info=window(9_000)) as bench:
        await bench.ask("u1")
        assert isinstance(await bench.ask("x" * 40_000), TurnError)
        assert isinstance(await bench.retry(), TurnDone), "the message alone is too long for the share"
        assert len(bench.log.compactions) == 1


@pytest.mark.parametrize("answer", [Reply([]), refused(401, "no"), CUT, Reply([WORK.parts[-1]])])
async def test_a_compaction_that_fails_by_itself_does_not_stop_the_turn(
    tmp_path: Path, at_work: AtWork, answer: Answer
) -> None:
    async with at_work([LONG, answer, SHORT], tmp_path, info=window(9_000)) as bench:
        await bench.ask("u1")
        assert isinstance(await bench.ask("u2"), TurnDone)
        (end,) = bench.log.compactions
        assert isinstance(end, CompactionFailed)
        assert [message.role for message in bench.messages()] == ["user", "assistant", "user"]
        assert bench.messages()[0] == user("u1") and bench.messages()[2] == user("u2")
        assert runs(tmp_path) == ""


async def test_esc_meanwhile_ends_the_turn_and_keeps_its_message(tmp_path: Path, at_work: AtWork) -> None:
    script: list[Answer] = [LONG, NoAnswer("stall"), BRIEF, SHORT, SHORT]
    async with at_work(script, tmp_path, info=window(9_000)) as bench:
        await bench.ask("u1")
        bench.session.submit("u2")
        bench.session.submit("waits")
        await requested(bench, 2)
        bench.session.stop()
        end = await bench.log.wait_for_end(2)
        assert isinstance(end, TurnError) and end.reason == "interrupted"
        (failed,) = bench.log.compactions
        assert isinstance(failed, CompactionFailed) and failed.reason == "interrupted"
        assert [message.text for message in bench.session.conversation][::2] == ["u1", "u2"]
        assert (bench.session.running, bench.session.queue) == (False, ("waits",))
        assert isinstance(await bench.retry(), TurnDone)
        assert shape(bench)[:3] == [SUMMARISED.text, "assistant", "u2"]
        await bench.log.wait_for_end(4)
        assert shape(bench)[-1] == "waits"
        bench.assert_valid_requests()


async def test_a_retry_makes_room_in_front_of_the_pending_work(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([LONG, WORK, CUT, BRIEF, SHORT], tmp_path) as bench:
        await bench.ask("u1")
        assert isinstance(await bench.ask("u2"), TurnIncomplete)
        bench.session.state.info = window(await estimate(bench, "") // 2)
        assert isinstance(await bench.retry(), TurnDone)
        assert shape(bench) == [SUMMARISED.text, "assistant", "u2", "assistant", "tool"]
        assert runs(tmp_path) == "ran\n"
        bench.assert_valid_requests()


async def test_tokens_a_byte_are_learned_from_the_request_that_was_sent(
    tmp_path: Path, at_work: AtWork
) -> None:
    counted = replace(SHORT, usage=TokenUsage(input_tokens=2_000, output_tokens=10))
    async with at_work([LONG, BRIEF, counted], tmp_path, info=window(9_000)) as bench:
        await bench.ask("u1")
        await bench.ask("u2")
        sent = len(bench.server.requests[-1].raw)
        size = (await bench.session.context()).totals[0]
        assert size.bytes / size.tokens == pytest.approx(sent / 2_000, rel=0.01)


# After an overflow


@pytest.mark.parametrize("worked", [False, True])
async def test_p07_what_overflows_goes_out_once_behind_the_summary(
    tmp_path: Path, at_work: AtWork, worked: bool
) -> None:
    first = [WORK] if worked else []
    async with at_work([work("a.py"), DONE, *first, FULL, SUMMARY, DONE], tmp_path) as bench:
        await bench.ask("u1")
        end = await bench.ask("too much")
        assert isinstance(end, TurnIncomplete if worked else TurnError)
        assert end.reason == "context"
        assert isinstance(await bench.compact(), Compacted)
        done = await bench.retry()
        assert isinstance(done, TurnDone)
        behind = ["assistant", "tool"] if worked else []
        assert shape(bench) == [SUMMARISED.text, "assistant", "too much", *behind]
        assert bench.server.requests[-1].raw.decode().count("too much") == 1
        assert runs(tmp_path) == "ran\n" * worked
        assert bench.session.conversation == folded(bench)
        bench.assert_valid_requests()


LONG_WORK = Reply([Say("A long answer. " * 2_000)], delta_size=4_000)


@pytest.mark.parametrize("policy", ["summary", "in-band", "full-trace"])
async def test_p07_a_summary_that_overflows_itself_is_asked_for_with_shorter_messages(
    tmp_path: Path, at_work: AtWork, policy: PolicyName
) -> None:
    script: list[Answer] = [work("a.py"), LONG_WORK, FULL, FULL, FULL, SUMMARY, DONE]
    async with at_work(script, tmp_path, policy=policy) as bench:
        await bench.ask("u1")
        end = await bench.compact("the API")
        assert isinstance(end, Compacted)
        assert end.turn_memory == memory("a.py")
        lengths = [len(request.raw) for request in bench.server.requests[2:]]
        assert lengths == sorted(lengths, reverse=True) and len(set(lengths)) == 4
        for number in (3, 4, 5):
            request, reply, question = bench.messages(number)
            assert request == user("u1")
            assert "characters left out]" in reply.text
            assert reply.text.endswith(block("a.py")), "what is remembered is not cut"
            assert question.text.endswith("the API")
            assert "tools" not in bench.server.requests[number].body
        assert len(bench.log.of(CompactionStarted)) == 4
        await bench.ask("next")
        assert bench.messages()[1] == assistant(TOLD + block("a.py"))
        bench.assert_valid_requests()


async def test_p07_where_even_the_shortest_is_too_long_nothing_changes(
    tmp_path: Path, at_work: AtWork
) -> None:
    async with at_work([LONG_WORK, FULL, FULL, FULL, FULL, DONE], tmp_path) as bench:
        await bench.ask("u1")
        before = bench.session.conversation
        end = await bench.compact()
        assert isinstance(end, CompactionFailed)
        assert (end.reason, bench.session.conversation) == ("context", before)
        assert len(bench.server.requests) == 5
        assert isinstance(await bench.ask("next"), TurnDone)


# Under the other policies


async def test_under_full_trace_the_calls_are_replayed_for_the_summary_and_gone_after_it(
    tmp_path: Path, at_work: AtWork
) -> None:
    script = [work("a.py"), DONE, WORK, CUT, SUMMARY, DONE, DONE]
    async with at_work(script, tmp_path, policy="full-trace") as bench:
        await bench.ask("u1")
        await bench.ask("u2")
        end = await bench.compact()
        assert isinstance(end, Compacted)
        assert shape(bench)[:-1] == ["u1", "assistant", "tool", "tool", "assistant"]
        assert bench.server.requests[-1].body["tools"], "APIs want the tools of the calls they are sent"
        assert "u2" not in bench.server.requests[-1].raw.decode()
        assert isinstance(await bench.retry(), TurnDone)
        assert shape(bench) == [SUMMARISED.text, "assistant", "u2", "assistant", "tool"]
        assert bench.messages()[1] == assistant(TOLD + block("a.py"))
        await bench.ask("u3")
        assert bench.messages()[:2] == [SUMMARISED, assistant(TOLD + block("a.py"))]
        assert shape(bench)[2:] == ["u2", "assistant", "tool", "assistant", "u3"]
        assert bench.session.conversation == folded(bench)
        bench.assert_valid_requests()


async def test_under_in_band_no_block_is_seen_and_the_memory_is_the_programs_own(
    tmp_path: Path, at_work: AtWork
) -> None:
    own = "I did it.\n\n<keen_memory>a is made</keen_memory>"
    replies = [Reply([Say(own)]), Reply([Say(f"{TOLD}\n<keen_memory>lies</keen_memory>")], delta_size=3)]
    async with at_work([work("a.py"), *replies, DONE], tmp_path, policy="in-band") as bench:
        await bench.ask("u1")
        end = await bench.compact()
        assert isinstance(end, Compacted)
        assert bench.messages()[1] == Seen("assistant", f"I work.\n\n{own}")
        assert end.summary == TOLD
        streamed = "".join(event.text for event in bench.log.of(CompactionDelta))
        assert streamed.strip() == TOLD
        await bench.ask("next")
        assert bench.messages() == [SUMMARISED, assistant(TOLD + block("a.py")), user("next")]
        bench.assert_valid_requests()
