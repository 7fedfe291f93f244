"""The schema of `stream-json` describes what is printed, and the published file is that schema."""

from __future__ import annotations

import json
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keen_tui.domain.event_records import as_told, event_type
from keen_tui.domain.events import Event
from keen_tui.frontends.headless.line_schema import line_schema, schema_text
from tests.support.any_event import EVENT_TYPES, OWN_TYPES, events
from tests.support.references import ROOT

SCHEMA = line_schema()
VALID = jsonschema.Draft202012Validator(SCHEMA)


def test_the_published_file_is_the_schema() -> None:
    """`keen-tui schema > docs/stream-json.schema.json` writes it anew."""
    assert (ROOT / "docs" / "stream-json.schema.json").read_text() == f"{schema_text()}\n"


def test_it_is_a_schema_that_names_every_event() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    names = {each["$ref"].rpartition("/")[2] for each in SCHEMA["$defs"]["output_line"]["oneOf"]}
    assert names == {*map(event_type, OWN_TYPES), "input_error"}
    for name in names:
        part = SCHEMA["$defs"][name]
        assert part["properties"]["type"] in ({"const": name}, {"enum": [name]})
        assert "type" in part["required"]


def test_every_reference_leads_somewhere_and_every_part_is_used() -> None:
    text = json.dumps(SCHEMA)
    for name in SCHEMA["$defs"]:
        assert f'"#/$defs/{name}"' in text
    for event in OWN_TYPES:
        assert SCHEMA["$defs"][event_type(event)]["description"]


@pytest.mark.parametrize("kind", EVENT_TYPES, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_every_event_fits_as_it_is_told(kind: type[Event], data: st.DataObject) -> None:
    """It can only fit the part with its type, so the other parts are not tried."""
    told = json.loads(json.dumps(as_told(data.draw(events(kind)))))
    VALID.evolve(schema=SCHEMA["$defs"][told["type"]]).validate(told)


WRONG: list[dict[str, Any]] = [
    {},
    {"type": "dance"},
    {"type": "message"},
    {"type": "message", "text": 1},
    {"type": "approve", "id": "x"},
    {"type": "approve", "id": "x", "allow": True, "scope": "forever"},
    {"type": "stop", "now": True},
    {"type": "turn_started", "turn": 1},
    {"type": "text_delta", "turn": 1, "step": 1, "text": None},
    {"type": "input_error", "line": 1},
]


@pytest.mark.parametrize("line", WRONG, ids=json.dumps)
def test_other_lines_do_not_fit(line: dict[str, Any]) -> None:
    assert not VALID.is_valid(line)
