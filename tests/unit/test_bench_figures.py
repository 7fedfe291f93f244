"""What the benchmarks make of their measurements."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bench.figures import p95, slope, tenths
from tests.bench.key_echo import Echo, echo_rows
from tests.bench.table import Row, markdown, write


def test_a_ratio_is_held_against_the_budget_where_there_is_a_reference() -> None:
    row = Row(what="start", value=0.6, unit="s", reference=0.5, against="bare app", budget=1.2)
    assert row.measured == pytest.approx(1.2)
    assert not Row(what="start", value=0.61, unit="s", reference=0.5, budget=1.2).holds
    assert Row(what="start", value=0.59, unit="s", reference=0.5, budget=1.2).holds


def test_a_value_is_held_against_the_budget_where_there_is_none() -> None:
    assert Row(what="echo", value=16.0, unit="ms", budget=16).holds
    assert not Row(what="echo", value=16.1, unit="ms", budget=16).holds
    assert not Row(what="timers", value=1, unit="", budget=0).holds


def test_a_figure_without_a_budget_can_not_miss_one() -> None:
    row = Row(what="modules", value=600.0, unit="modules")
    assert row.holds
    assert markdown([row]).splitlines()[-1] == "| modules | 600 modules |  |  |  |  |"


def test_the_table_says_what_misses() -> None:
    rows = [
        Row(what="start", value=0.9, unit="s", reference=0.5, against="bare app", budget=1.2),
        Row(what="memory", value=1234.4, unit="MB", budget=2000),
    ]
    assert markdown(rows).splitlines()[2:] == [
        "| start | 0.9 s | 0.5 s (bare app) | 1.8x | 1.2x | **missed** |",
        "| memory | 1,234 MB |  |  | 2,000 MB | holds |",
    ]


def test_the_records_hold_what_the_table_says(tmp_path: Path) -> None:
    write([Row(what="start", value=0.9, unit="s", reference=0.5, budget=1.2)], tmp_path, "some")
    (record,) = json.loads((tmp_path / "some.json").read_text())
    assert (record["what"], record["measured"], record["holds"]) == ("start", 1.8, False)


def test_one_slow_key_in_a_hundred_does_not_make_the_p95() -> None:
    assert p95([5.0] * 99 + [500.0]) == 5.0
    assert p95([5.0] * 90 + [50.0] * 10) == 50.0
    assert p95([7.0]) == 7.0


def test_the_slope_is_growth_for_one_step() -> None:
    assert slope([50, 100, 150], [80.0, 85.0, 90.0]) == pytest.approx(0.1)


def test_the_first_and_the_last_tenth_are_compared_by_their_medians() -> None:
    assert tenths([1.0] * 10 + [2.0] * 80 + [3.0] * 9 + [99.0]) == (1.0, 3.0)
    assert tenths([1.0, 4.0]) == (1.0, 4.0)


def test_an_echo_is_judged_without_the_time_for_which_neighbours_had_the_processor() -> None:
    slow, queued = Echo(whole=40.0, queued=0.0), Echo(whole=40.0, queued=36.0)
    judged, told = echo_rows("streaming", [queued] * 99 + [slow], 33)
    assert judged.value == pytest.approx(4.0)
    assert told.value == pytest.approx(40.0)
    assert (judged.budget, told.budget) == (33, None)


def test_no_key_at_all_is_no_good_figure() -> None:
    with pytest.raises(AssertionError):
        list(echo_rows("streaming", [], 33))
