"""Whole texts from the displays of changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keen_tui.frontends.acp.diffs import applied, diffs_of
from keen_tui.text.diff import diff_display

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n"]), min_size=1, max_size=30)


@given(LINES, LINES)
def test_each_side_gives_the_other(old: list[str], new: list[str]) -> None:
    before, after = "".join(old), "".join(new)
    diff = diff_display("f", before, after)
    assert applied(before, diff, forward=True) == after
    assert applied(after, diff, forward=False) == before


def test_other_line_endings_stay() -> None:
    diff = diff_display("f", "a\r\nb\r\n", "a\r\nc\r\n")
    assert applied("a\r\nb\r\n", diff, forward=True) == "a\r\nc\r\n"


def test_another_text_is_no_side() -> None:
    diff = diff_display("f", "a\nb\n", "a\nc\n")
    assert applied("a\nd\n", diff, forward=True) is None


async def test_a_changed_file_is_shown_by_its_hunks(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("something else\n")
    (diff,) = await diffs_of(diff_display("f", "a\nb\n", "a\nc\n"), tmp_path, reads=True)
    assert (diff.old_text, diff.new_text) == ("a\nb\n", "a\nc\n")


async def test_a_file_far_apart_is_shown_whole(tmp_path: Path) -> None:
    before = "".join(f"{n}\n" for n in range(100))
    after = before.replace("10\n", "ten\n", 1).replace("90\n", "ninety\n")
    (tmp_path / "f").write_text(before)
    (diff,) = await diffs_of(diff_display("f", before, after), tmp_path, reads=True)
    assert (diff.old_text, diff.new_text) == (before, after)
    assert len(await diffs_of(diff_display("f", before, after), tmp_path, reads=False)) == 2


@pytest.mark.parametrize("kind", ["folder", "fifo", "binary"])
async def test_what_is_no_text_is_not_read(tmp_path: Path, kind: str) -> None:
    import os

    place = tmp_path / "f"
    if kind == "folder":
        place.mkdir()
    elif kind == "fifo":
        os.mkfifo(place)
    else:
        place.write_bytes(b"\xff\xfe")
    (diff,) = await diffs_of(diff_display("f", "a\n", "b\n"), tmp_path, reads=True)
    assert diff.new_text == "b\n"
