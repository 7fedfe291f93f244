"""Which places in files a block names, and which of them are opened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from keen_tui.domain.display import (
    CommandDisplay,
    DiffDisplay,
    DiffLine,
    Display,
    FileDisplay,
    FileListDisplay,
)
from keen_tui.frontends.tui.state.state import UserBlock
from keen_tui.frontends.tui.transcript.places import MOST_NAMED, Named, found_places, links_in, named_in
from tests.support.screen import DIFF, text_block, tool_block


def mentions(text: str) -> list[str]:
    return [str(named) for named in named_in(text_block(text))]


def test_a_path_with_a_line_is_found_in_prose() -> None:
    said = "See `src/cart.py:12` and (tests/test_cart.py:3:7), **a-b.c:4**; at 12:30? src/cart.py:12 again."
    assert mentions(said) == ["src/cart.py:12", "tests/test_cart.py:3", "a-b.c:4", "12:30"]
    assert mentions('  File "/home/me/shop cart.py", line 7, in f') == ["/home/me/shop cart.py:7"]
    assert mentions("no place: here, cart.py, 12") == []
    assert [str(each) for each in named_in(UserBlock(turn=1, text="mend a.py:3"))] == ["a.py:3"]


def test_links_are_those_of_web_pages_each_once() -> None:
    said = "See [the guide](https://example.org/a#b) and <http://localhost:8000/x>, https://example.org/a#b."
    assert links_in(text_block(said)) == ("https://example.org/a#b", "http://localhost:8000/x")
    assert links_in(text_block("[no](file:///etc/passwd) javascript:alert(1) example.org")) == ()
    printed = CommandDisplay(command="serve", output="listening on http://0.0.0.0:80/.", exit_code=0)
    assert links_in(tool_block(display=printed)) == ("http://0.0.0.0:80/",)


@pytest.mark.parametrize(
    ("display", "places"),
    [
        (FileDisplay(path="a.py", text="x", first_line=40), ["a.py:40"]),
        (DIFF, ["src/cart.py:32"]),
        (DiffDisplay(path="a.py", hunks=(), added=0, removed=0, total_lines=0), ["a.py"]),
        (FileListDisplay(lines=("a.py:3:def f():", "b.py:9:f()")), ["a.py:3", "b.py:9"]),
        (FileListDisplay(lines=("a.py", "src/b.py")), ["a.py", "src/b.py"]),
        (CommandDisplay(command="x", output="t.py:5: AssertionError", exit_code=1), ["t.py:5"]),
    ],
)
def test_a_call_names_what_it_acted_on_and_found(display: Display, places: list[str]) -> None:
    assert [str(named) for named in named_in(tool_block(display=display))] == places


def test_a_call_that_shows_nothing_names_its_target() -> None:
    assert named_in(tool_block("r", "read_file", "a.py")) == (Named("a.py", by_call=True),)
    assert named_in(tool_block("b", "bash", "cat a.py")) == ()


def test_a_diff_that_only_adds_or_removes_opens_where_it_does() -> None:
    rows = (DiffLine(sign=" ", number=1, text=""), DiffLine(sign="-", number=2, text="x"))
    diff = DiffDisplay(path="a.py", hunks=(rows,), added=0, removed=1, total_lines=1)
    assert [str(named) for named in named_in(tool_block(display=diff))] == ["a.py:2"]


def test_a_text_of_nothing_but_places_ends_somewhere() -> None:
    assert len(mentions(" ".join(f"a.py:{line}" for line in range(1, 5_000)))) == MOST_NAMED


def test_only_files_are_opened_and_only_those_of_the_workspace_unless_a_call_named_them(
    tmp_path: Path,
) -> None:
    work = tmp_path / "work"
    (work / "src").mkdir(parents=True)
    inside, outside = work / "src" / "a.py", tmp_path / "secret.py"
    inside.write_text("a")
    outside.write_text("b")
    (work / "link.py").symlink_to(outside)
    os.mkfifo(work / "pipe")

    def opened(*named: Named) -> list[Path]:
        return [place.file for place in found_places(named, work)]

    spoken_of = [Named(str(outside), 1), Named("../secret.py", 1), Named("link.py", 1), Named("src", 1)]
    assert opened(*spoken_of, Named("pipe", 1), Named("gone.py", 1), Named("a\0b", 1)) == []
    assert opened(Named("src/a.py", 1), Named(str(inside))) == [inside, inside]
    assert opened(Named(str(outside), by_call=True), Named("../secret.py", by_call=True)) == [outside] * 2
    assert opened(Named("pipe", by_call=True), Named("/dev/zero", by_call=True)) == []
