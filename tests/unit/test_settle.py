"""The function that decides what becomes of a turn."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from keen_tui.agent.turn.settle import Broken, Commit, Discard, Finished, Save, TurnRecord, settle
from keen_tui.domain.errors import EndReason
from keen_tui.domain.events import TurnDone
from keen_tui.domain.facts.command_failed import CommandFailed
from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.domain.messages import Fact, Message, NativeMessage, ToolCall, ToolResult, ToolStep, TurnMemory
from keen_tui.memory.conversation import Conversation
from keen_tui.memory.pending import PendingState, PendingTrace
from keen_tui.memory.policies import policy_of

EARLIER = PendingState(
    traces=(PendingTrace(1, ({"role": "assistant", "content": "p1"},)),),
    texts=("earlier",),
    raw_texts=("earlier",),
    facts=(FileChanged(path="a.py"),),
    calls=2,
    seconds=60.0,
)
STEP: NativeMessage = {"role": "assistant", "content": "step"}


def record(
    *,
    turn: int = 1,
    injected: PendingState | None = None,
    trace: tuple[NativeMessage, ...] = (),
    texts: tuple[str, ...] = (),
    facts: tuple[Fact, ...] = (),
    calls: int = 0,
) -> TurnRecord:
    return TurnRecord(
        turn=turn,
        attempt=1,
        injected=injected,
        trace=trace,
        texts=texts,
        raw_texts=texts,
        facts=facts,
        calls=calls,
        seconds=1.5,
        policy=policy_of("summary"),
    )


def committed(settlement: Commit) -> Message:
    """The assistant message that the commit appends."""
    conversation = Conversation()
    conversation.take(settlement.event)
    return conversation.messages[-1]


@pytest.mark.parametrize(
    "reason",
    [
        "provider",
        "auth",
        "network",
        "cut",
        "stalled",
        "empty",
        "step_limit",
        "context",
        "interrupted",
        "internal",
    ],
)
@pytest.mark.parametrize(
    ("calls", "injected", "outcome"),
    [(0, None, Discard), (1, None, Save), (0, EARLIER, Save), (3, EARLIER, Save)],
)
def test_a_broken_turn_is_saved_only_when_there_is_work(
    reason: EndReason, calls: int, injected: PendingState | None, outcome: type
) -> None:
    settlement = settle(record(calls=calls, injected=injected), Broken(reason=reason, detail="why"))
    assert type(settlement) is outcome
    assert not isinstance(settlement.event, TurnDone)
    assert (settlement.event.reason, settlement.event.detail) == (reason, "why")


@pytest.mark.parametrize("calls", [0, 1])
@pytest.mark.parametrize("injected", [None, EARLIER])
def test_a_finished_turn_is_committed(calls: int, injected: PendingState | None) -> None:
    assert isinstance(settle(record(calls=calls, injected=injected), Finished(reason="stop")), Commit)


def test_the_commit_covers_the_pending_part_too() -> None:
    facts = (*EARLIER.facts, CommandFailed(command="make", exit_code=2))
    gathered = record(turn=2, injected=EARLIER, trace=(STEP,), texts=("now",), facts=facts, calls=1)
    settlement = settle(gathered, Finished(reason="stop"))
    assert isinstance(settlement, Commit)
    memory = TurnMemory(files_changed=("a.py",), failed_bash=(CommandFailed(command="make", exit_code=2),))
    assert committed(settlement) == Message(role="assistant", text="earlier\n\nnow", turn=2, memory=memory)
    assert settlement.event.calls == 3
    assert settlement.event.seconds == 61.5


def test_nothing_to_remember_is_no_memory() -> None:
    settlement = settle(record(texts=("hi",)), Finished(reason="stop"))
    assert isinstance(settlement, Commit)
    assert committed(settlement).memory is None


def test_a_save_of_a_new_turn_keeps_both_traces_behind_their_own_turns() -> None:
    settlement = settle(
        record(turn=2, injected=EARLIER, trace=(STEP,), calls=1), Broken(reason="cut", detail="")
    )
    assert isinstance(settlement, Save)
    assert [trace.turn for trace in settlement.pending.traces] == [1, 2]


def test_a_save_of_a_retry_extends_the_trace_of_its_turn() -> None:
    settlement = settle(
        record(turn=1, injected=EARLIER, trace=(STEP,), calls=1), Broken(reason="cut", detail="")
    )
    assert isinstance(settlement, Save)
    (trace,) = settlement.pending.traces
    assert trace.messages == (*EARLIER.traces[0].messages, STEP)
    assert settlement.pending.seconds == settlement.event.seconds == 61.5


def test_a_retry_that_dies_at_once_leaves_the_pending_state_as_it_was_but_for_its_time() -> None:
    settlement = settle(record(injected=EARLIER, facts=EARLIER.facts), Broken(reason="network", detail=""))
    assert isinstance(settlement, Save)
    assert settlement.pending == replace(EARLIER, seconds=61.5)
    assert settlement.event.seconds == 61.5


def test_calls_that_the_policy_replays_are_carried_too() -> None:
    call = ToolCall(id="1", name="read_file", arguments={"path": "a.py"})
    steps = (ToolStep(text="I look.", calls=((call, ToolResult(text="x" * 900)),)),)
    done = record(texts=("I look.", "Done.")), Finished(reason="stop")
    for policy, least, most in ((policy_of("summary"), 10, 30), (policy_of("full-trace"), 900, 1_000)):
        kept = settle(replace(done[0], steps=steps, policy=policy), done[1])
        assert isinstance(kept, Commit)
        assert least < kept.event.carried_bytes < most


@pytest.mark.parametrize(
    ("text", "size"),
    [('"é\\\n\x01', len('\\"') + 2 + len("\\\\") + len("\\n") + len("\\u0001")), ("\ud800", 1)],
)
def test_a_trace_is_measured_as_utf_8_json_and_half_a_surrogate_pair_as_one_byte(
    text: str, size: int
) -> None:
    bare = settle(record(trace=({"content": ""},), texts=("Done.",)), Finished(reason="stop"))
    full = settle(record(trace=({"content": text},), texts=("Done.",)), Finished(reason="stop"))
    assert isinstance(bare, Commit) and isinstance(full, Commit)
    assert full.event.trace_bytes - bare.event.trace_bytes == size
