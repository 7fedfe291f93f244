"""Every event goes into a line and comes back unchanged; what is no event of ours is told apart."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keen_tui.domain.event_records import as_record, event_type
from keen_tui.domain.events import Event, ToolFinished, TurnStarted
from keen_tui.domain.facts.command_failed import CommandFailed
from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.domain.messages import ToolResult
from keen_tui.domain.models import Identity
from keen_tui.memory.pending import PendingState, PendingTrace
from keen_tui.storage.records import (
    Header,
    event_line,
    header_line,
    parsed_event,
    parsed_header,
    parsed_pending,
    pending_text,
)
from tests.support.any_event import OWN_TYPES, events, json_values, texts


def there_and_back(event: Event) -> Event | None:
    line = event_line(7, 1_700_000_000.123, event)
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    record = json.loads(line)
    assert (record["n"], record["at"], record["type"]) == (7, 1_700_000_000.123, event_type(type(event)))
    return parsed_event(record)


def test_an_event_of_a_sub_agent_is_in_the_file_of_the_sub_agent_only() -> None:
    assert (
        parsed_event({"type": "agent_event", "turn": 1, "id": "a", "agent": "explore", "event": {}}) is None
    )


@pytest.mark.parametrize("kind", OWN_TYPES, ids=event_type)
@settings(max_examples=30)
@given(data=st.data())
def test_an_event_of_every_type_comes_back_unchanged(kind: type[Event], data: st.DataObject) -> None:
    event = data.draw(events(kind))
    assert there_and_back(event) == event


@given(texts, texts, texts, st.floats(0, 4e9))
def test_a_header_comes_back_unchanged(id: str, workspace: str, model: str, began: float) -> None:
    header = Header(id=id, workspace=workspace, began=began, model=model, forked_from="x")
    assert parsed_header(json.loads(header_line(header))) == header


def test_a_type_not_known_here_is_no_event() -> None:
    assert parsed_event({"n": 3, "at": 1.0, "type": "telepathy", "thought": "x"}) is None


@pytest.mark.parametrize(
    "change",
    [{"turn": "1"}, {"turn": True}, {"turn": None}, {"text": 5}, {"attempt": 1.5}, {"text": ["x"]}],
    ids=str,
)
def test_a_field_of_another_kind_is_no_event(change: dict[str, Any]) -> None:
    record = as_record(TurnStarted(turn=1, attempt=1, text="hi")) | change
    with pytest.raises(ValueError, match="turn_started"):
        parsed_event(record)


def test_a_missing_field_is_no_event_and_one_too_many_is_passed_over() -> None:
    event = TurnStarted(turn=1, attempt=1, text="hi")
    record = as_record(event)
    assert parsed_event(record | {"mood": "good"}) == event
    del record["turn"]
    with pytest.raises(ValueError):
        parsed_event(record)


def test_facts_written_before_they_had_a_kind_are_read() -> None:
    facts = (FileChanged(path="a.py"), CommandFailed(command="exit 2", exit_code=2))
    result = ToolResult(text="", summary="", facts=facts)
    event = ToolFinished(turn=1, id="c1", name="bash", arguments={}, target="", result=result, seconds=1.0)
    record = as_record(event)
    for fact in record["facts"]:
        del fact["kind"]
    assert parsed_event(record) == event


@given(
    st.fixed_dictionaries(
        {"type": st.just("session"), "schema": st.integers()},
        optional=dict.fromkeys(("id", "workspace", "began", "model", "forked_from"), json_values),
    )
)
def test_a_header_with_fields_of_another_kind_has_none_of_them(record: dict[str, Any]) -> None:
    header = parsed_header(record)
    assert header and header.schema == record["schema"]
    assert isinstance(header.workspace, str) and isinstance(header.began, float)


PENDING = PendingState(
    traces=(PendingTrace(turn=2, messages=({"role": "assistant", "content": "\ud800\0"},)),),
    texts=("a", ""),
    raw_texts=("a", ""),
    facts=(FileChanged(path="a.py"), CommandFailed(command="false", exit_code=1)),
    calls=3,
)
IDENTITY = Identity(api="openai-chat", base_url="http://x/v1", model="m")


def test_pending_state_comes_back_unchanged_with_what_it_belongs_to() -> None:
    text = pending_text(IDENTITY, PENDING).encode("utf-8", "surrogatepass")
    assert parsed_pending(text) == (IDENTITY, PENDING)


def test_no_part_of_pending_state_is_taken_for_the_whole() -> None:
    text = pending_text(IDENTITY, PENDING).encode("utf-8", "surrogatepass")
    for size in range(len(text)):
        with pytest.raises(ValueError):
            parsed_pending(text[:size])
    with pytest.raises(ValueError):
        parsed_pending(text.replace(b'"schema": 1', b'"schema": 2'))
