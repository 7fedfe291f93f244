"""Every kind of fact in every reader of TurnMemory. The facts are made from the kinds: a reader that forgets
one fails here."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from msgspec import convert, to_builtins
from msgspec.structs import replace

from keen_tui.domain.events import AgentWorked
from keen_tui.domain.facts.remembered import Remembered
from keen_tui.domain.messages import KINDS, Fact, TurnMemory, facts_of, merged_memory, turn_memory
from keen_tui.export import as_html, as_json, as_markdown
from keen_tui.frontends.acp.numbers import of_turn
from keen_tui.frontends.shared.lines.sentences import abandoned, turn_ends
from keen_tui.frontends.tui.look.glyphs import ASCII, UNICODE
from keen_tui.frontends.tui.look.themes import Styles, load_themes
from keen_tui.frontends.tui.pages.context.editor import EntryRows, entries_of, memory_of
from keen_tui.frontends.tui.panels.memory_rows import MemoryRows
from keen_tui.frontends.tui.state.reducer import apply_all
from keen_tui.frontends.tui.state.state import TurnRow, UiState
from keen_tui.frontends.tui.widgets.phrases import memory_counts
from keen_tui.memory.rendering import render_assistant
from keen_tui.storage.records import event_line, parsed_event
from keen_tui.text.labels import drawn
from keen_tui.text.redaction import taken_out
from keen_tui.text.sanitize import clean
from tests.support import story
from tests.support.exported import abandoned as given_up
from tests.support.exported import done, source
from tests.support.facts import EVERYTHING, declared, examples

STYLES = Styles(load_themes()[0]["keen-dark"])
REPORTED: tuple[type[Remembered], ...] = get_args(Fact)


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def kind(request: pytest.FixtureRequest) -> type[Remembered]:
    found: type[Remembered] = request.param
    return found


@pytest.fixture
def memory(kind: type[Remembered]) -> TurnMemory:
    """A TurnMemory of that kind alone."""
    return turn_memory(examples(kind))


def words_of(memory: TurnMemory) -> list[str]:
    """What a person reads of its facts."""
    return [drawn(row).text for kind, facts in memory.by_kind for row in kind.rows(facts)]


def turn_with(memory: TurnMemory) -> TurnRow:
    return apply_all(UiState(), [story.started(1, "go"), story.done(1, memory=memory)], 1.0).turns[-1]


@pytest.mark.parametrize("found", [*declared()], ids=lambda kind: kind.__name__)
def test_every_class_of_facts_is_remembered(found: type[Remembered]) -> None:
    assert found in KINDS or found in REPORTED
    kept = examples(found)[0].remembered
    assert type(kept) in KINDS
    assert {type(fact) for fact in kept.reported} <= set(REPORTED)


@pytest.mark.parametrize("reported", REPORTED, ids=lambda kind: kind.__name__)
def test_what_tools_report_is_stored_and_remembered(reported: type[Remembered]) -> None:
    facts = convert(to_builtins(examples(reported)), tuple[Fact, ...])
    assert facts == examples(reported)
    event = AgentWorked(turn=1, id="c", facts=facts)
    assert parsed_event(json.loads(event_line(1, 0.0, event))) == event
    assert turn_memory(facts)


def test_a_memory_is_its_facts(kind: type[Remembered], memory: TurnMemory) -> None:
    assert {type(fact) for fact in memory.facts} == {kind}
    assert turn_memory(memory.facts) == merged_memory([memory, TurnMemory()]) == memory
    assert turn_memory(facts_of(memory)) in (memory, TurnMemory()), "notes are no facts of a tool"
    assert [each for each, _ in merged_memory([memory, EVERYTHING]).by_kind] == list(KINDS)


def test_files_hold_it(memory: TurnMemory) -> None:
    end = done(1, "The key is 0123456789.", memory)
    assert parsed_event(json.loads(event_line(1, 0.0, end))) == end
    assert taken_out(["0123456789"], end).turn_memory == memory


def test_requests_say_it_and_no_text_forges_an_entry(kind: type[Remembered], memory: TurnMemory) -> None:
    lines = [f"- {line}" for line in kind.lines(kind.read_from(memory))] if kind.IS_CARRIED else []
    assert render_assistant("", memory).splitlines() == (["Tool memory:", *lines] if lines else [])
    assert set(lines) <= set(render_assistant("", EVERYTHING).splitlines())


@pytest.mark.parametrize("width", [36, 400])
def test_the_panel_shows_it(kind: type[Remembered], memory: TurnMemory, width: int) -> None:
    rows = [row.plain for row in MemoryRows(STYLES, UNICODE, width=width).entry(turn_with(memory)).rows]
    asides = [*map(clean, kind.asides(kind.read_from(memory)))]
    for words in asides or words_of(memory):
        assert any(words[:15] in row for row in rows)
    assert any("nothing changed" in row for row in rows) is not kind.IS_CARRIED
    assert max(map(len, rows)) <= width


def test_the_folded_panel_counts_it(kind: type[Remembered], memory: TurnMemory) -> None:
    for glyphs in (UNICODE, ASCII):
        count = glyphs.of(kind.SIGN) + kind.count(kind.read_from(memory)) if kind.IS_ENTRY else glyphs.none
        assert memory_counts(memory, STYLES, glyphs).plain == count
        assert count in memory_counts(EVERYTHING, STYLES, glyphs).plain or not kind.IS_ENTRY


def test_a_person_can_forget_it(kind: type[Remembered], memory: TurnMemory) -> None:
    page = EntryRows(STYLES, UNICODE, turn_with(memory), "summary")
    shown = "\n".join(row.plain for row in page.rows(400, 40))
    assert all(drawn(fact.row).text in shown for fact in memory.facts) is kind.IS_ENTRY
    entries = [replace(each, forgotten=isinstance(each.what, kind)) for each in entries_of(EVERYTHING)]
    left = memory_of(entries, EVERYTHING)
    assert [each for each, _ in left.by_kind] == [each for each in KINDS if each != kind or not kind.IS_ENTRY]


def test_sentences_say_it(kind: type[Remembered], memory: TurnMemory) -> None:
    (ends,) = turn_ends(done(1, "Done.", memory), lost_words=False)
    for row in kind.rows(kind.read_from(memory)):
        assert (kind.LABEL and clean(row.phrase or row.text) in ends) or not kind.LABEL
    assert (kind.LABEL in abandoned(given_up(1, memory))) is (kind.IS_CARRIED or not kind.LABEL)


def test_exports_and_editors_have_it(kind: type[Remembered], memory: TurnMemory) -> None:
    session = source(story.started(1, "go"), done(1, "Done.", memory))
    for words in words_of(memory):
        assert words in as_html(session) and words in as_markdown(session)
    (message,) = (each for each in json.loads(as_json(session))["messages"] if each["memory"])
    assert convert(message["memory"], TurnMemory) == memory
    assert tuple(message["memory"]) == TurnMemory.__struct_fields__
    assert set(of_turn(done(1, "Done.", memory))["keen/memory"]) == set(kind.fields(kind.read_from(memory)))
