"""Times, sizes and cut texts; glyph sets."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import fields
from rich.cells import cell_len

from keen_tui.frontends.tui.look.cells import cut, cut_path, meter
from keen_tui.frontends.tui.look.glyphs import ASCII, UNICODE, Glyphs, choose_glyphs
from keen_tui.frontends.tui.look.locales import locale_of
from keen_tui.text.units import counted, dollars, duration, part_of, size, tokens


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.003, "3 ms"),
        (0.9994, "999 ms"),
        (1.4, "1.4 s"),
        (9.96, "10 s"),
        (12.4, "12 s"),
        (59.6, "1:00"),
        (112, "1:52"),
        (3727, "1:02:07"),
        (-1, "0 ms"),
    ],
)
def test_durations_are_as_precise_as_they_are_short(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


def test_a_running_clock_shows_whole_seconds() -> None:
    assert duration(1.9, running=True) == "1 s"
    assert duration(61.2, running=True) == "1:01"


@pytest.mark.parametrize(
    ("part", "whole", "words"),
    [
        (180, 4_100, "0.2 of 4.1 kB"),
        (87, 4_100, "87 B of 4.1 kB"),
        (4_100, 1_300_000, "4.1 kB of 1.3 MB"),
        (30, 87, "30 of 87 B"),
        (4_110, 4_120, "4.1 of 4.1 kB"),
    ],
)
def test_a_part_shares_the_unit_of_the_whole(part: int, whole: int, words: str) -> None:
    assert part_of(part, whole) == words


def test_sizes_and_tokens_have_one_decimal_at_most() -> None:
    assert [size(count) for count in (87, 400, 18_200, 1_300_000)] == ["87 B", "0.4 kB", "18.2 kB", "1.3 MB"]
    assert [tokens(count) for count in (950, 10_400, 200_000, 1_200_000)] == ["950", "10.4k", "200k", "1.2M"]
    assert counted(1, "call") == "1 call"
    assert counted(2, "retry", "retries") == "2 retries"


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        (0.0, "$0.00"),
        (0.0004, "<$0.001"),
        (0.0042, "$0.004"),
        (0.0094, "$0.009"),
        (0.0096, "$0.01"),
        (0.0412, "$0.04"),
        (99.994, "$99.99"),
        (123.4, "$123"),
    ],
)
def test_dollars_are_as_precise_as_they_are_few(amount: float, shown: str) -> None:
    assert dollars(amount) == shown


@given(st.text(), st.integers(0, 40))
def test_cut_text_never_is_wider_than_it_may_be(text: str, cells: int) -> None:
    assert cell_len(cut(text, cells)) <= cells
    if cell_len(text) <= cells:
        assert cut(text, cells) == text


def test_a_path_loses_leading_folders_before_its_name() -> None:
    assert cut_path("src/keen/tests/test_cart.py", 20) == "…/tests/test_cart.py"
    assert cut_path("a/very_long_name_of_a_file.py", 12) == "very_long_n…"


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
def test_a_meter_fills_in_halves_and_shows_the_least_share(glyphs: Glyphs) -> None:
    assert meter(0, 10, glyphs)[0] == ""
    assert meter(0.0001, 10, glyphs)[0] == glyphs.meter_half
    assert meter(0.5, 10, glyphs)[0] == glyphs.meter_full * 5
    assert all(len("".join(meter(share / 7, 8, glyphs))) == 8 for share in range(9))


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
def test_every_glyph_is_one_cell_wide(glyphs: Glyphs) -> None:
    signs = {field.name: getattr(glyphs, field.name) for field in fields(glyphs) if field.name != "ascii"}
    assert {name for name, sign in signs.items() if cell_len(sign) != 1} <= {"queued"}
    assert glyphs is UNICODE or all(sign.isascii() for sign in signs.values())


def test_glyphs_follow_the_setting_first_then_the_terminal() -> None:
    assert choose_glyphs(None, {"TERM": "xterm-256color"}, "UTF-8") is UNICODE
    assert choose_glyphs(None, {"TERM": "linux"}, "utf-8") is ASCII
    assert choose_glyphs(None, {}, "ISO-8859-1") is ASCII
    assert choose_glyphs("ascii", {}, "utf-8") is ASCII
    assert choose_glyphs("unicode", {"LC_ALL": "C"}, "utf-8") is UNICODE
    assert choose_glyphs("unicode", {"TERM": "dumb"}, "ascii") is UNICODE


@pytest.mark.parametrize(
    ("environ", "given", "glyphs"),
    [
        ({"LC_ALL": "C"}, b"", ASCII),
        ({"LC_ALL": "POSIX", "LANG": "de_DE.UTF-8"}, b"", ASCII),
        ({"LANG": "C"}, b"", ASCII),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, b"LANG=C\0", ASCII),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, b"LANG=C\0LC_CTYPE=C.UTF-8\0", UNICODE),
        ({"LC_ALL": "C.UTF-8"}, b"", UNICODE),
        ({"LANG": "en_GB.UTF-8"}, b"", UNICODE),
        ({"LC_CTYPE": "UTF-8"}, b"LC_CTYPE=UTF-8\0", UNICODE),
        ({}, b"", UNICODE),
    ],
)
def test_the_c_locale_gets_plain_signs_though_python_writes_utf_8_there(
    environ: dict[str, str], given: bytes, glyphs: Glyphs
) -> None:
    locale = locale_of(environ, given)
    assert choose_glyphs(None, {"LANG": locale} if locale else {}, "utf-8") is glyphs


@pytest.mark.parametrize("variable", ["LC_ALL", "LANG"])
def test_a_program_that_was_started_in_the_c_locale_knows_it(variable: str) -> None:
    code = (
        "import os, sys; from keen_tui.frontends.tui.look.glyphs import choose_glyphs;"
        "print(choose_glyphs(None, os.environ, sys.stdout.encoding).ascii)"
    )
    names = ("LC_ALL", "LC_CTYPE", "LANG")
    environ = {name: value for name, value in os.environ.items() if name not in names}
    told = subprocess.run(
        [sys.executable, "-c", code],
        env={**environ, variable: "C"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == "True\n"
