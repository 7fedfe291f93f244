"""Saved sessions without a screen: rows, words, what is found, what commands say."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.domain.errors import ConfigError
from keen_tui.domain.reports import SearchHit
from keen_tui.frontends.shared.commands.sessions import export_words, fork_words
from keen_tui.frontends.tui.look.glyphs import UNICODE
from keen_tui.frontends.tui.look.themes import Styles, load_themes
from keen_tui.frontends.tui.pages.sessions.lines import (
    SessionHeading,
    SessionLine,
    count_words,
    under_headings,
    when,
    with_title,
)
from keen_tui.frontends.tui.pages.sessions.session_list import SessionList, tail_of
from keen_tui.frontends.tui.pages.sessions.shelf import Shelf
from keen_tui.system.paths import home_relative
from tests.support.fake_history import NOW, saved, sessions

STYLES = Styles(load_themes()[0]["keen-dark"])
DAY = 86_400


def shown_list(*lines: SessionLine, folders: bool = False) -> SessionList:
    shown = SessionList(STYLES, UNICODE, now=lambda: NOW)
    shown.show(lines, on_screen="s5", folders=folders, empty="nothing")
    return shown


def rows(shown: SessionList, width: int = 100, height: int = 20) -> list[str]:
    return [row.plain.rstrip() for row in shown.rows(width, height)]


@pytest.mark.parametrize(
    ("passed", "words"),
    [
        (-5, "just now"),
        (59, "just now"),
        (60, "1 min ago"),
        (3_599, "59 min ago"),
        (7_300, "2 h ago"),
        (DAY, "yesterday"),
        (6.9 * DAY, "6 days ago"),
    ],
)
def test_a_time_is_told_in_words(passed: float, words: str) -> None:
    assert when(NOW - passed, NOW) == words


def test_a_time_long_ago_is_a_date() -> None:
    assert when(1_700_000_000.0, NOW).startswith("2023-11-1")


def test_a_title_is_found_by_all_words_in_any_case() -> None:
    found = with_title(sessions(), "CART fix")
    assert [each.id for each in found] == ["s5"]
    assert with_title(sessions(), " ") == list(sessions())


def test_places_stand_under_their_session_once() -> None:
    one, two = saved("a", "A"), saved("b", "B")
    hits = [SearchHit(session=each, turn=turn, before="", words="w", after="") for each, turn in
            ((one, 1), (one, 2), (two, 1))]  # fmt: skip
    assert under_headings(hits) == [SessionHeading(one), hits[0], hits[1], None, SessionHeading(two), hits[2]]


def test_counts_tell_what_a_filter_left() -> None:
    assert (count_words(1, 1), count_words(2, 9)) == ("1 session", "2 of 9 sessions")


@pytest.mark.parametrize("width", [120, 80, 60, 40])
def test_rows_fit_and_end_in_one_column(width: int) -> None:
    long = saved("x", "a very long title " * 20, hours=1, forked_from="y", in_use=True)
    lines = rows(shown_list(saved("y", "short"), long, folders=True), width)
    assert {len(line) for line in lines[1:]} == {width - 4}


def test_a_folder_takes_the_place_of_the_size_where_there_is_no_room() -> None:
    session = saved("a", "A", workspace=Path("/srv/code/long-name-of-a-folder/shop"))
    assert "18.2 kB" in rows(shown_list(session, folders=True), 120)[1]
    narrow = rows(shown_list(session, folders=True), 80)[1]
    assert "kB" not in narrow and "…/shop" in narrow
    assert "18.2 kB" in rows(shown_list(session), 80)[1]


def test_only_what_is_in_view_is_drawn_and_the_chosen_line_is_among_it() -> None:
    shown = shown_list(*(saved(str(number), f"title {number}") for number in range(5_000)))
    shown.move(2_500)
    drawn = rows(shown, height=20)
    assert len(drawn) == 20
    assert "▌" in drawn[shown.row_of_chosen] and "title 2500" in drawn[shown.row_of_chosen]
    assert drawn[0].endswith("above") and drawn[-1].endswith("below")


def test_headings_are_passed_over() -> None:
    one, two = saved("a", "A"), saved("b", "B")
    first, second = (SearchHit(session=each, turn=1, before="", words="w", after="") for each in (one, two))
    shown = shown_list(*under_headings([first, second]))
    assert shown.chosen == first
    shown.move(1)
    assert shown.chosen == second
    shown.move(5)
    assert shown.chosen == second
    shown.move(-1)
    assert shown.chosen == first


def test_the_next_takes_the_place_of_a_chosen_line_that_has_gone() -> None:
    one, two, three = saved("a", "A"), saved("b", "B"), saved("c", "C")
    shown = shown_list(one, two, three)
    shown.move(1)
    shown.show([one, three], on_screen="", folders=False, empty="")
    assert shown.chosen == three
    shown.show([one], on_screen="", folders=False, empty="")
    assert shown.chosen == one
    shown.show([], on_screen="", folders=False, empty="nothing")
    assert shown.chosen is None and rows(shown)[2].strip() == "nothing"


def test_the_words_that_were_found_are_in_view_whatever_stands_before_them() -> None:
    hit = SearchHit(session=saved("a", "A"), turn=3, before="x" * 500, words="found", after="y" * 500)
    row = rows(shown_list(SessionHeading(hit.session), hit), 80)[2]
    assert "turn 3" in row and "…" in row and "xfoundy" in row and len(row) == 76


def test_the_end_of_a_text_is_cut_in_cells() -> None:
    assert tail_of("short", 10) == "short"
    assert tail_of("漢字漢字", 5) == "…漢字"


def test_the_home_folder_is_written_short() -> None:
    assert home_relative(Path.home() / "shop") == "~/shop"
    assert home_relative(Path("/srv/shop")) == "/srv/shop"


def test_a_shelf_forgets_and_retitles_in_both_lists() -> None:
    hit = SearchHit(session=saved("a", "A"), turn=1, before="", words="w", after="")
    shelf = Shelf(sessions=(saved("a", "A"), saved("b", "B")), hits=(hit,))
    renamed = shelf.retitled("a", "Z")
    assert renamed.sessions and renamed.sessions[0].title == renamed.hits[0].session.title == "Z"
    assert [each.id for each in shelf.without("a").sessions or ()] == ["b"] and not shelf.without("a").hits


@pytest.mark.parametrize(
    ("words", "format", "file"),
    [
        ("", "markdown", ""),
        ("html", "html", ""),
        ("MD", "markdown", ""),
        ("notes.json", "json", "notes.json"),
        ("my notes.htm", "html", "my notes.htm"),
        ("json notes.txt", "json", "notes.txt"),
        ("notes.txt", "markdown", "notes.txt"),
        ("out/session", "markdown", "out/session"),
        ("json  my notes", "json", "my notes"),
    ],
)
def test_export_takes_a_format_a_file_or_both(words: str, format: str, file: str) -> None:
    assert export_words(words) == (format, file)


def test_a_bare_word_that_is_no_format_is_refused() -> None:
    with pytest.raises(ConfigError, match="Unknown format pdf"):
        export_words("pdf")


@pytest.mark.parametrize("words", ["3", "0", "-1", "two", "1 2", "²"])
def test_fork_refuses_what_is_no_turn(words: str) -> None:
    with pytest.raises(ConfigError, match="There is no turn"):
        fork_words(words, (1, 2))


def test_fork_takes_a_turn_or_nothing() -> None:
    assert (fork_words("", (1, 2)), fork_words("2", (1, 2))) == (0, 2)
    with pytest.raises(ConfigError, match="Nothing to fork"):
        fork_words("", ())
