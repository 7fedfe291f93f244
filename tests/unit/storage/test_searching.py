"""Words are found in what was said and done, wherever it stands, in either case."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keen_tui.domain.events import Event, TextDelta
from keen_tui.domain.reports import SearchHit
from keen_tui.storage.lookup.lookup import MOST_HITS
from keen_tui.storage.lookup.sessions import SessionStore
from tests.support.session_files import call, compacted, done, started, turn, write_session


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path)


def found(store: SessionStore, words: str) -> list[SearchHit]:
    """All that is found in the end."""
    *_, hits = store.search(words)
    return list(hits)


def search(store: SessionStore, words: str, *events: Event) -> list[SearchHit]:
    """What is found in a session with these events."""
    for path in store.root.rglob("*.jsonl"):
        path.unlink()
    write_session(store.new_path(store.root), events)
    return found(store, words)


@pytest.mark.parametrize(
    "event",
    [
        started(3, "Where is it"),
        done(3, "Here it IS"),
        call(3, "c", text="x\nis no")[1],
        compacted(3, "(is)"),
    ],
    ids=["message", "reply", "result", "summary"],
)
def test_words_are_found_where_somebody_said_them(store: SessionStore, event: Event) -> None:
    (hit,) = search(store, "is", event)
    assert (hit.turn, hit.words.lower()) == (3, "is")


def test_the_rules_are_those_of_the_search_in_an_open_session(store: SessionStore) -> None:
    event = started(1, "Two\n\t words and\u3000more")
    assert search(store, "two words AND", event) == []
    assert [hit.words for hit in search(store, "two  words", event)] == ["Two words"]
    assert len(search(store, "Two words and more", event)) == 1


def test_what_is_said_twice_by_the_file_is_found_once(store: SessionStore) -> None:
    streamed = TextDelta(turn=1, step=1, text="Done.")
    assert len(search(store, "done.", started(1, "go"), streamed, done(1, "Done."))) == 1


@pytest.mark.parametrize(
    "words", ["Ärger", "ärger", "straße", "a\nb", 'say "x"', "c:\\new", "\ud800", ".*", "(", "ß"]
)
def test_any_words_are_found_as_they_are(store: SessionStore, words: str) -> None:
    hits = search(store, words, started(1, 'before Ärger straße a\nb say "x" c:\\new \ud800 .* ( behind'))
    assert [hit.turn for hit in hits] == [1]


@settings(max_examples=50)
@given(st.text(min_size=1).filter(str.strip), st.text(), st.text())
def test_what_was_written_is_found(store: SessionStore, words: str, before: str, after: str) -> None:
    hits = search(store, words, started(1, before + words + after))
    assert len(hits) == 1


def test_a_hit_stands_on_one_line_with_what_is_around_it(store: SessionStore) -> None:
    (hit,) = search(store, "needle", started(1, "a" * 100 + "\n\t needle\n" + "b" * 100))
    assert (hit.before, hit.words, hit.after) == ("a" * 57 + " ", "needle", " " + "b" * 59)


@pytest.mark.parametrize("words", ["", "  ", "\n"])
def test_blank_words_find_nothing(store: SessionStore, words: str) -> None:
    assert search(store, words, *turn(1)) == []


def test_neither_field_names_nor_arguments_are_found(store: SessionStore) -> None:
    events = call(1, "c", arguments={"path": "needle"})
    assert search(store, "needle", *events) == []
    assert search(store, "turn_started", started(1, "x")) == []


def test_a_damaged_session_is_searched_as_far_as_it_is_whole(store: SessionStore) -> None:
    path = write_session(
        store.new_path(store.root), [started(1, "needle one"), done(1), started(2, "needle two")]
    )
    content = path.read_bytes()
    path.write_bytes(
        content[:200] + b"\0\xff" + b"needle" + content[200:] + b"\n" + b"[" * 100_000 + b"needle"
    )
    assert [hit.turn for hit in found(store, "needle")][-1] == 2


def test_there_is_an_end_to_what_is_found(store: SessionStore) -> None:
    for _ in range(45):
        write_session(store.new_path(store.root), [event for number in range(9) for event in turn(number)])
    hits = found(store, "please do")
    assert len(hits) == MOST_HITS
