"""The output formats of a review hold what is published."""

from __future__ import annotations

import io
import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from msgspec.structs import replace

from keen_tui.domain.review import Finding, ReviewReport, ReviewScope, ReviewState, SkippedFile
from keen_tui.frontends.headless.outlets import note
from keen_tui.frontends.headless.review_forms import SCHEMA, as_json, form_of
from keen_tui.settings.flags import parsed
from keen_tui.text.review_words import outcome_words, report_lines, task_of

PUBLISHED = Path(__file__).parents[2] / "docs" / "review.schema.json"

FINDING = Finding(
    priority="P1",
    title="Twice",
    reason="It is applied twice.",
    file="src/cart.py",
    first_line=3,
    last_line=5,
    confidence=0.5,
    suggestion="Apply it once.",
)
REPORT = ReviewReport(
    scope=ReviewScope(
        kind="base", title="feature compared with main", name="main", old="a" * 40, new="b" * 40
    ),
    root="/work",
    files=("src/cart.py",),
    left_out=(SkippedFile("poetry.lock", "a lock file"),),
    state="done",
    summary="It adds discounts.",
    findings=(FINDING,),
    session_id="20261124-x",
    model="m",
)


def schema() -> Mapping[str, Any]:
    published: Mapping[str, Any] = json.loads(PUBLISHED.read_text("utf-8"))
    return published


@pytest.mark.parametrize("state", ["done", "incomplete", "error"])
def test_every_outcome_follows_the_published_schema(state: ReviewState) -> None:
    (line,) = form_of(replace(REPORT, state=state, detail="why"), "json", "P1")
    jsonschema.validate(json.loads(line), schema())
    nothing = ReviewReport(scope=ReviewScope(kind="uncommitted", title="x"), root="/", state=state)
    (bare,) = form_of(nothing, "json", None)
    jsonschema.validate(json.loads(bare), schema())


def test_the_schema_names_every_field_and_the_version() -> None:
    def require_all(value: object, described: Mapping[str, Any]) -> None:
        if isinstance(value, dict):
            assert set(value) == set(described["properties"]) == set(described["required"])
            for name, inner in value.items():
                require_all(inner, described["properties"][name])
        elif isinstance(value, list) and value:
            require_all(value[0], described["items"])

    require_all(as_json(REPORT, None), schema())
    assert schema()["properties"]["schema"]["const"] == SCHEMA


def test_a_wrong_output_does_not_follow_it() -> None:
    wrong = as_json(REPORT, None) | {"outcome": "fine"}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, schema())


def test_the_text_says_what_was_left_out_and_found() -> None:
    assert list(report_lines(REPORT)) == [
        "Review of feature compared with main",
        "",
        "P1  src/cart.py:3-5  Twice",
        "    It is applied twice.",
        "    Suggestion: Apply it once.",
        "",
        "Left out:",
        "  poetry.lock: a lock file",
        "",
        "It adds discounts.",
        "1 finding in 1 file.",
    ]


def test_no_line_is_a_command_for_a_build_server() -> None:
    text = "Look: ##[add-mask]a ##vso[task.complete]b\n ::set-output name=x::y"
    hostile = replace(REPORT, summary=text, findings=(replace(FINDING, title=text, reason=text),))
    for output in ("text", "json", "gitlab"):
        for line in form_of(hostile, output, None):
            assert not re.search(r"##\w*\[|^\s*::", line), line
    (record,) = map(json.loads, form_of(hostile, "json", None))
    assert record["findings"][0]["reason"] == text
    out = io.StringIO()
    note(f"+ read_file {text}", out)
    note("::error::x", out)
    assert out.getvalue().splitlines()[1] == "| ::error::x"
    assert "##[" not in out.getvalue()


def test_a_finding_becomes_a_task() -> None:
    assert task_of(FINDING) == (
        "Fix this finding of a review, in src/cart.py:3-5: Twice\n\n"
        "It is applied twice.\n\nSuggestion: Apply it once."
    )


def test_an_outcome_is_a_sentence() -> None:
    assert outcome_words(replace(REPORT, state="running", calls=2)) == "Reviewing 1 file, 2 calls so far."
    assert outcome_words(replace(REPORT, findings=())) == "No findings in 1 file."
    assert outcome_words(replace(REPORT, state="incomplete", detail="You stopped it.")) == (
        "The review isn't finished: You stopped it."
    )


def test_the_commands_of_the_guide_can_be_typed() -> None:
    """The examples and the recipes for CI."""
    guide = (PUBLISHED.parent / "guide" / "review.md").read_text("utf-8")
    typed = re.findall(r"keen-tui (review(?: [^#\n>`]*)?)(?: +#| >|\n|`)", guide)
    assert len(typed) >= 6
    for words in typed:
        given = parsed(shlex.split(words))
        assert given["words"][0] == "review"
