"""What saved sessions used, by day and model: from their files, and from the index where there are many."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from keen_tui.domain.events import Event, ModelChanged, Usage
from keen_tui.domain.messages import TokenUsage
from keen_tui.domain.reports import ModelUsage, UsageReport
from keen_tui.storage.lookup.sessions import SessionStore
from keen_tui.storage.lookup.usage_sums import usage_since
from keen_tui.storage.records import Header, event_line, header_line
from keen_tui.system.folders import workspace_folder
from tests.support.session_files import compacted, done, started

WORK = Path("/home/me/shop")
TODAY = date(2026, 3, 29)
"""In Berlin the clock is put forward on this day."""


@pytest.fixture(autouse=True)
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def at(day: date, hour: int = 12, minute: int = 0) -> float:
    return datetime(day.year, day.month, day.day, hour, minute).timestamp()


def used(turn: int, sent: int, *, cached: int = 0, model: str = "", cost: float | None = 0.5) -> Usage:
    tokens = TokenUsage(input_tokens=sent, output_tokens=10, cached_tokens=cached)
    return Usage(turn=turn, step=1, tokens=tokens, cost=cost, model=model)


def save(store: SessionStore, *events: tuple[float, Event], model: str = "m1", number: int = 1) -> Path:
    """A session file of these events at their times."""
    folder = workspace_folder(store.root / "sessions", WORK)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"20260329-000000-{number:06x}.jsonl"
    header = Header(id=path.stem, workspace=str(WORK), began=events[0][0], model=model)
    lines = [event_line(place, when, event) for place, (when, event) in enumerate(events, 1)]
    path.write_bytes(b"".join((header_line(header), *lines)))
    os.utime(path, (events[-1][0], events[-1][0]))
    return path


def report(store: SessionStore, days: int = 30) -> UsageReport:
    return usage_since(TODAY - timedelta(days=days - 1), store)


def sums(row: ModelUsage) -> tuple[object, ...]:
    return row.day, row.model, row.sessions, row.turns, row.calls, row.spent.input_tokens


def test_sessions_are_added_up_by_day_and_model(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    before = TODAY - timedelta(days=1)
    save(store, (at(before, 23, 59), used(1, 100)), (at(TODAY, 0, 0), used(1, 50)), (at(TODAY), used(2, 7)))
    save(store, (at(TODAY), used(1, 1_000)), (at(TODAY), used(2, 300, model="m2")), number=2)
    found = report(store)
    assert [sums(row) for row in found.rows] == [
        (before.isoformat(), "m1", 1, 1, 1, 100),
        (TODAY.isoformat(), "m1", 2, 2, 3, 1_057),
        (TODAY.isoformat(), "m2", 1, 1, 1, 300),
    ]
    assert sums(found.total) == ("", "", 2, 4, 5, 1_457)


def test_only_the_days_asked_for_count(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    earlier = TODAY - timedelta(days=2)
    save(store, (at(earlier), used(1, 100)), (at(TODAY), used(2, 7)))
    save(store, (at(earlier), used(1, 100)), number=2)
    assert [sums(row) for row in report(store, days=1).rows] == [(TODAY.isoformat(), "m1", 1, 1, 1, 7)]
    assert report(store, days=3).total.calls == 3


def test_old_files_name_the_model_where_it_was_changed(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    changed = ModelChanged(model="m2", server="s", effort="", context_window=None)
    save(store, (at(TODAY), used(1, 5)), (at(TODAY), changed), (at(TODAY), used(2, 6)))
    assert [row.model for row in report(store).rows] == ["m1", "m2"]


def test_what_requests_left_out_is_counted(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    grown = replace(done(1, "1234"), whole_bytes=4_004)
    save(
        store,
        (at(TODAY), started(1)), (at(TODAY), used(1, 100)), (at(TODAY), grown), (at(TODAY), used(2, 100)),
        (at(TODAY), compacted(1)), (at(TODAY), used(3, 100)), (at(TODAY), used(0, 40)),
    )  # fmt: skip
    spent = report(store).total.spent
    assert (spent.input_tokens, spent.whole_tokens) == (340, 340 + 1_000 + 1_000 + 225)


def test_a_cost_that_is_not_known_is_counted_apart(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    save(store, (at(TODAY), used(1, 5)), (at(TODAY), used(1, 5, cost=None)), (at(TODAY), used(1, 5)))
    total = report(store).total
    assert (total.known_cost, total.unpriced, total.spent.cost) == (1.0, 1, None)


def test_a_copy_counts_only_what_was_added_to_it(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    original = save(store, (at(TODAY), used(1, 100)), (at(TODAY), done(1)))
    copy = store.fork(original, WORK)
    with copy.open("ab") as file:
        file.write(event_line(9, time.time() + 1, used(2, 30)))
    found = usage_since(TODAY, store)
    assert found.total.spent.input_tokens == 130
    assert found.total.sessions == 2


def test_damaged_and_repeated_lines_are_left_out(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    path = save(store, (at(TODAY), used(1, 100)), (at(TODAY), used(2, 10)))
    header, first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(header + first + first + b'{"n":7,"at":"x","type":"usage"\xff}\n' + second + second[:40])
    assert report(store).total.spent.input_tokens == 110


def test_text_that_looks_like_usage_is_none(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    save(store, (at(TODAY), started(1, '"type":"usage","input_tokens":5')), (at(TODAY), used(1, 1)))
    assert report(store).total.spent.input_tokens == 1


def test_an_index_gives_the_same_sums_and_follows_the_files(tmp_path: Path) -> None:
    plain, indexed = SessionStore(tmp_path), SessionStore(tmp_path, few=1)
    paths = [save(plain, (at(TODAY), used(1, 100 * number)), number=number) for number in range(1, 6)]
    assert report(indexed) == report(plain)
    assert report(indexed) == report(plain), "now from the index"
    with paths[0].open("ab") as file:
        file.write(event_line(9, at(TODAY), used(2, 7)))
    assert report(indexed).total.spent.input_tokens == 1_507
    paths[1].unlink()
    assert report(indexed).total.spent.input_tokens == 1_307


def test_an_index_is_used_instead_of_files_that_did_not_change(tmp_path: Path) -> None:
    store = SessionStore(tmp_path, few=1)
    paths = [save(store, (at(TODAY), used(1, 100)), number=number) for number in (1, 2)]
    report(store)
    for path in paths:
        status = path.stat()
        with path.open("r+b") as file:  # as many bytes, and the same time: no reader would look again
            file.write(b"#" * 20)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert report(store).total.spent.input_tokens == 200


def test_nothing_of_a_deleted_session_stays_in_the_index(tmp_path: Path) -> None:
    store = SessionStore(tmp_path, few=1)
    paths = [
        save(store, (at(TODAY), used(1, 100, model=f"model-{number}")), number=number) for number in (1, 2)
    ]
    report(store)
    store.delete(paths[0])
    (index,) = (tmp_path / "index").glob("*.sqlite")
    content = index.read_bytes()
    assert b"model-2" in content and b"model-1" not in content


def test_no_sessions_used_nothing(tmp_path: Path) -> None:
    assert report(SessionStore(tmp_path)) == UsageReport(first_day="2026-02-28", rows=(), total=ModelUsage())
