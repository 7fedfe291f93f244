"""Pastes: taken whole from the terminal, folded into labels, sent whole."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual._xterm_parser import XTermParser
from textual.events import Paste

from keen_tui.frontends.tui.terminal.driver import PasteParser
from keen_tui.frontends.tui.widgets.pastes import MOST_CHARACTERS, MOST_LINES, Pastes, pasted
from keen_tui.text.sanitize import clean

LONG = "line\n" * 200
BEGIN, END = "\x1b[200~", "\x1b[201~"


def read(parser: XTermParser | PasteParser, *pieces: str) -> list[str]:
    """What a terminal's bytes come to, with a silence behind them: keys by name, pastes in quotes."""
    messages = [message for piece in pieces for message in parser.feed(piece)]
    while isinstance(parser, PasteParser) and parser.wants_silence:
        messages += parser.silence(10.0)
    return [repr(each.text) if isinstance(each, Paste) else getattr(each, "key", "?") for each in messages]


def cut(text: str, places: Sequence[int]) -> list[str]:
    edges = [0, *sorted(place for place in places if 0 < place < len(text)), len(text)]
    return [text[first:last] for first, last in pairwise(edges) if first < last]


SENT = ["a", "\t", "\x1b[A", "日", f"{BEGIN}one\rtwo{END}", f"{BEGIN}{END}", "\x1b[2~"]


@given(st.lists(st.sampled_from(SENT), max_size=6), st.lists(st.integers(0, 80), max_size=5))
def test_keys_and_pastes_come_as_they_were_given_wherever_they_are_cut(
    given_pieces: list[str], places: list[int]
) -> None:
    text = "".join(given_pieces)
    parser = PasteParser()
    whole = [key for piece in given_pieces for key in read(parser, piece)]
    assert whole == [key for piece in given_pieces for key in read(XTermParser(), piece)]
    if text.count(BEGIN) <= 1:
        assert read(PasteParser(), *cut(text, places)) == whole


def test_nothing_in_a_paste_is_a_key() -> None:
    """Not what stands behind an escape character, and no mark that was slipped in."""
    evil = "harmless \x1bxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r rm -rf /\r"
    assert read(PasteParser(), f"{BEGIN}{evil}{END}b") == [repr(evil), "b"]
    slipped = f"ls {END}\rrm -rf /\r{BEGIN}"
    assert read(PasteParser(), f"{BEGIN}{slipped}{END}b") == [repr(slipped), "b"]
    long = f"ls {END}\rrm -rf /\r" + "x" * 20_000
    assert read(PasteParser(), *cut(f"{BEGIN}{long}{END}b", range(0, 30_000, 4_095))) == [repr(long), "b"]


def test_a_paste_is_over_with_a_silence() -> None:
    parser = PasteParser()
    assert [*parser.feed(f"{BEGIN}text{END}")] == []
    assert [*parser.silence(0.01)] == []
    assert read(parser) == ["'text'"]
    assert read(parser, "\r") == ["enter"]


def test_a_paste_whose_end_never_comes_does_not_swallow_what_follows() -> None:
    parser = PasteParser()
    assert read(parser, f"{BEGIN}text") == ["'text'"]
    assert read(parser, "\x03") == ["ctrl+c"]


LINES = ["ls\rrm -rf /\r", "one\ntwo and three", "one\r\ntwo\r\nthree", "x" * 2_000 + "\r"]


@pytest.mark.parametrize("text", LINES)
def test_lines_that_come_at_once_are_a_paste_where_the_terminal_marks_none(text: str) -> None:
    parser = PasteParser()
    assert read(parser, *cut(text, range(0, len(text), 65_536))) == [repr(text)]
    assert read(parser, "\r") == ["enter"]


@pytest.mark.parametrize("text", ["go on\r", "yes\rand now", "\r\r", "a\r\x1b[A", "\x1b[A\rb", "\rb\x03"])
def test_what_a_person_may_have_typed_is_no_paste(text: str) -> None:
    assert read(PasteParser(), text) == read(XTermParser(), text)


def test_lines_that_were_typed_before_the_screen_was_there_are_keys() -> None:
    parser = PasteParser()
    keys = [getattr(each, "key", "?") for each in parser.feed("a\rb", is_typed=True)]
    assert keys == ["a", "enter", "b"]


NO_KEYS = [
    "\x1b", "[", "<", "M", "m", ";", "?", "u", "~", "200~", "201~", "\ufffd", "\0", "a", "\r", "1", "9" * 20,
    "\x1b[M\xff\xff\xff", "\x1b[<0;1;1M", "\x1b[<9999999999999999999;1;1M", "\x1b[<-1;-1;-1m", "\x1b[I",
    "\x1b[?1;2c", "\x1b[97;5u", "\x1b[1114112u", "\x1b[55296u", "\x1b[4294967296;1u", "\x1b[1:2:3;4:5u",
    "\x1bP", "\x1b[O",
    "\x1b]11;rgb:00/00/00\x07", "\x1b\\", "\x1b[?2026;2$y", "\x1b[?2048;1$y", "\x1b[48;0;0;0;0t",
    "\x1b[48;999999;-1;0;0t", "\x1bO", "\x1b[27;5;13~",
]  # fmt: skip


@given(st.lists(st.sampled_from(NO_KEYS), max_size=12), st.lists(st.integers(0, 80), max_size=5))
def test_what_no_terminal_should_send_is_passed_over(pieces: list[str], places: list[int]) -> None:
    parser = PasteParser()
    read(parser, *cut("".join(pieces), places))
    [*parser.tick(), *parser.feed("")]


def test_behind_what_can_not_be_understood_keys_are_keys() -> None:
    garbage = "\x1b[1114112u\x1b[1:2:3;4:5u\x1b[48;999999;999999;0;0t"
    assert read(PasteParser(), f"a{garbage}\x1b[Ab")[-2:] == ["up", "b"]


def test_a_paste_of_megabytes_comes_in_one_piece() -> None:
    text = "x" * 3_000_000
    parser = PasteParser()
    pieces = cut(f"{BEGIN}{text}{END}", range(0, 3_000_012, 4_095))
    assert read(parser, *pieces) == [repr(text)]


@pytest.mark.parametrize("raw", ["one\r\ntwo\rthree\n", "one\rtwo", "a\x1b[31mb\x07\tc", LONG * 300])
def test_a_paste_is_written_as_if_it_were_cleaned_in_one_go(raw: str) -> None:
    lines = raw if "\n" in raw else raw.replace("\r", "\n")
    assert pasted(raw) == clean(lines, newlines=True, tabs=True)


def test_a_long_text_is_a_label_and_goes_out_whole() -> None:
    pastes = Pastes()
    assert pastes.fold("short\ntext") == "short\ntext"
    label = pastes.fold(LONG)
    assert label == "[pasted: 200 lines]"
    assert pastes.unfold(f"see {label} and {label}") == f"see {LONG} and {LONG}"
    assert pastes.unfold(label[:-1]) == label[:-1]
    assert pastes.around(f"see {label}!", 10) == (4, 4 + len(label))
    assert [pastes.around(f"see {label}!", column) for column in (0, 4, 23)] == [(0, 0), (4, 4), (23, 23)]


def test_a_message_that_comes_back_has_its_labels_again() -> None:
    pastes = Pastes()
    label = pastes.fold(LONG)
    assert pastes.fold_again(f"Fix this:\n{LONG}please") == f"Fix this:\n{label}please"


def test_two_texts_never_share_a_label() -> None:
    pastes = Pastes()
    first, second = pastes.fold("a" * 9_000), pastes.fold("b" * 9_000)
    assert (first, second) == ("[pasted: 9,000 characters]", "[pasted 2: 9,000 characters]")
    assert pastes.fold("a" * 9_000) == first
    assert pastes.unfold(first + second) == "a" * 9_000 + "b" * 9_000


def test_a_label_within_a_paste_is_text() -> None:
    pastes = Pastes()
    outer = pastes.fold("[pasted: 200 lines]\n" + "x" * MOST_CHARACTERS)
    inner = pastes.fold(LONG)
    assert pastes.unfold(outer) == "[pasted: 200 lines]\n" + "x" * MOST_CHARACTERS
    assert pastes.unfold(inner) == LONG


def test_only_long_texts_are_folded() -> None:
    for text in ("x" * MOST_CHARACTERS, "\n" * MOST_LINES):
        assert Pastes().fold(text) == text
    for text in ("x" * (MOST_CHARACTERS + 1), "\n" * (MOST_LINES + 1)):
        assert Pastes().fold(text) != text
