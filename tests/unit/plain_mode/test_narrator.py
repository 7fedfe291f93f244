"""Every event is told in whole lines that can't drive a terminal."""

from __future__ import annotations

import io
import unicodedata

import pytest
from hypothesis import given, settings

from keen_tui.domain.events import (
    Event,
    HostContacted,
    QueueChanged,
    ResourcesAttached,
    SessionOpened,
    SessionRestored,
    TextDelta,
    TurnDone,
    TurnStarted,
)
from keen_tui.domain.messages import AttachedResource, TurnMemory
from keen_tui.frontends.line.narrator import Narrator
from keen_tui.frontends.line.opening import Openings
from keen_tui.frontends.line.printer import LinePrinter
from tests.support import story
from tests.support.any_event import EVENT_TYPES, events


def told(*events: Event) -> list[str]:
    out = io.StringIO()
    printer = LinePrinter(out)
    narrator = Narrator(printer)
    openings = Openings(printer, narrator)
    for event in events:
        if not openings.take(event):
            narrator.tell(event)
    return out.getvalue().removesuffix("\n").split("\n")


def turn(number: int, text: str, reply: str) -> tuple[Event, ...]:
    done = TurnDone(
        turn=number,
        attempt=1,
        reason="stop",
        text=reply,
        turn_memory=TurnMemory(files_changed=("a.py",)),
        calls=1,
        seconds=2.0,
        carried_bytes=1,
        trace_bytes=1,
    )
    return (
        TurnStarted(turn=number, attempt=1, text=text),
        TextDelta(turn=number, step=1, text=reply),
        done,
    )


def test_a_turn_is_told_with_what_is_remembered_of_it() -> None:
    assert told(*turn(1, "do it", "It is do\x1b[31mne.")) == [
        "You: do it",
        "Turn 1 begins.",
        "Reply: It is done.",
        "Turn 1 done: 2.0 s, 1 call. Memory: changed a.py.",
    ]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (("a",), "1 message waits in the queue until a turn is done; /steer sends it now."),
        (("a", "b"), "2 messages wait in the queue until a turn is done; /steer sends the first now."),
    ],
)
def test_after_a_turn_that_was_not_done_it_says_how_to_send_what_is_queued(
    texts: tuple[str, ...], said: str
) -> None:
    assert told(story.started(1, "go"), QueueChanged(texts=texts), story.incomplete(1))[-1] == said


def test_another_session_says_what_was_not_sent_and_knows_of_no_queue() -> None:
    queued = QueueChanged(texts=("a",))
    events = (story.started(1, "go"), queued, SessionOpened(id="s2"), story.started(1, "go"))
    assert "1 queued message was not sent; up brings it back." in told(*events)
    assert not any("in the queue" in line for line in told(*events, story.incomplete(1)))


def test_the_resources_that_go_with_a_message_are_told() -> None:
    one, other = (
        AttachedResource(server="talk", uri=uri, text="t", bytes=11) for uri in ("a://1\x1b[2J", "b")
    )
    told_lines = told(ResourcesAttached(turn=1, resources=(one, other)))
    assert told_lines == ["With the resource talk:a://1, 11 B.", "With the resource talk:b, 11 B."]


def test_hosts_that_a_command_reached_are_told() -> None:
    assert told(
        HostContacted(turn=1, id="c", host="a.example"),
        HostContacted(turn=1, id="c", host="b.example:8443", problem="no rule allows it"),
    ) == [
        "The command reached a.example.",
        "The command did not reach b.example:8443: no rule allows it.",
    ]


def test_of_a_session_that_goes_on_the_newest_turn_is_told() -> None:
    past = (*turn(1, "old", "Old reply."), *turn(2, "new", "New reply."))
    opened = SessionOpened(id="s1", title="Cart", restoring=True)
    lines = told(opened, *past, SessionRestored(skipped="Two lines could not be read."))
    assert lines[:4] == [
        "The session continues: Cart. It has 2 turns.",
        "Two lines could not be read.",
        "Its newest turn:",
        "You: new",
    ]
    assert "Reply: New reply." in lines
    assert not [line for line in lines if "Old" in line]


@pytest.mark.parametrize("text", ["one\ntwo", "x" * 5000])
def test_a_reply_is_told_whole(text: str) -> None:
    assert "\n".join(told(*turn(1, "a", text))[2:-1]) == f"Reply: {text}"


@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_no_event_writes_more_than_lines_of_text(kind: type[Event]) -> None:
    @settings(max_examples=15)
    @given(events(kind))
    def holds(event: Event) -> None:
        written = "".join(told(event, *turn(1, "a", "b")))
        assert not [sign for sign in written if unicodedata.category(sign) in ("Cc", "Cs")]

    holds()
