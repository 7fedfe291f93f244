"""A diff in two columns, and what is shown of a changed file."""

from __future__ import annotations

import pytest

from keen_tui.domain.reports import Changes, FileVersions
from keen_tui.frontends.shared.changes import ShownFile, shown_files
from keen_tui.frontends.tui.look.glyphs import UNICODE
from keen_tui.frontends.tui.look.themes import Styles, load_themes
from keen_tui.frontends.tui.tool_views.side_by_side import draw_side_by_side
from keen_tui.text.diff import diff_display

LOOK = Styles(load_themes()[0]["keen-dark"])


def columns(before: str, after: str, width: int = 61) -> list[tuple[str, str]]:
    """Both columns of each row, without the blanks at their ends."""
    rows = draw_side_by_side(diff_display("f.txt", before, after), width, LOOK, UNICODE, "panel")
    assert {row.cells for row in rows} <= {width}
    half = (width - 1) // 2
    return [(row.text[:half].strip(), row.text[half + 1 :].strip()) for row in rows]


def test_what_was_changed_is_level_and_the_rest_of_the_longer_side_follows() -> None:
    assert columns("a\nb\nc\n", "a\nB\nB2\nc\n") == [
        ("1   a", "1   a"),
        ("2 - b", "2 + B"),
        ("", "3 + B2"),
        ("3   c", "4   c"),
    ]


def test_old_numbers_stay_right_behind_what_was_left_out() -> None:
    old = [f"l{number}" for number in range(1, 41)]
    new = ["n1", "n2", *old[:29], *old[31:]]
    rows = columns("\n".join(old) + "\n", "\n".join(new) + "\n")
    assert ("", "1 + n1") in rows
    assert ("29   l29", "31   l29") in rows
    assert ("30 - l30", "") in rows
    assert ("32   l32", "32   l32") in rows


def test_a_long_line_is_wrapped_in_its_own_column() -> None:
    rows = columns("x\n", "y" * 30 + "\n")
    assert rows[0][0] == "1 - x"
    assert rows[0][1].startswith("1 + yyy")
    assert rows[1] == ("", "y" * (30 - rows[0][1].count("y")))


@pytest.mark.parametrize(
    ("before", "after", "note", "instead"),
    [
        (None, b"x\n", "new", ""),
        (b"x\n", None, "removed", ""),
        (b"x\n", b"x\r\n", "", ""),
        (b"x\n", b"\xef\xbb\xbfx\n", "", "No lines differ."),
        (None, b"", "new", "No lines differ."),
        (b"\xff", b"x", "binary", "A binary file: 1 B before, 1 B after."),
        (None, b"a\0", "binary", "A binary file: none before, 2 B after."),
    ],
)
def test_a_file_is_shown_as_its_lines_or_as_what_it_is(
    before: bytes | None, after: bytes | None, note: str, instead: str
) -> None:
    shown = only(FileVersions(path="f", before=before, after=after))
    assert (shown.note, shown.instead) == (note, instead)
    assert (shown.diff is None) == bool(instead)


def test_a_path_cannot_drive_the_terminal() -> None:
    assert only(FileVersions(path="a\x1b[31m\nb", before=None, after=b"x")).path == "a b"


def only(file: FileVersions) -> ShownFile:
    (shown,) = shown_files(Changes(turn=1, title="", files=(file,)))
    return shown
