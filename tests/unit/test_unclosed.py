"""What a hunk begins inside of, and that its colours know it."""

from __future__ import annotations

import pytest

from keen_tui.text.diff import diff_display
from keen_tui.text.highlighting import highlight, highlight_hunk
from keen_tui.text.unclosed import Unclosed


def open_at_end(text: str, path: str) -> str:
    return Unclosed(text, path).at(len(text))


@pytest.mark.parametrize(
    ("path", "text", "opened"),
    [
        ("a.py", 'def f():\n    """Docs.\n', '"""'),
        ("a.py", 'def f():\n    """Docs."""\n', ""),
        ("a.py", "x = '''a\n", "'''"),
        ("a.py", 'x = 1  # it\'s """ in a comment\n', ""),
        ("a.py", "x = \"a ''' b\"\n", ""),
        ("a.py", 'x = """a \\""" b\n', '"""'),
        ("a.py", 'a = """1"""\nb = """2\n', '"""'),
        ("a.PY", 'a = """1\n', '"""'),
        ("a.c", "int a; /* here\n", "/*"),
        ("a.c", 'char *a = "/*"; // and /*\n', ""),
        ("a.c", "char a = '\"'; /* b\n", "/*"),
        ("a.rs", "fn f<'a>(x: &'a str) {} /* c\n", "/*"),
        ("a.java", 'String a = """\n', '"""'),
        ("a.ts", "const a = `one\n", "`"),
        ("a.ts", "const a = `one` + 'it`s'\n", ""),
        ("a.css", "a { } /* b\n", "/*"),
        ("a.html", "<!-- a\n", "<!--"),
        ("a.html", "<script>\nlet a = 1\n", "<script"),
        ("a.md", "text\n```python\nimport os\n", "```python"),
        ("a.md", "text\n```python\nimport os\n```\n", ""),
        ("a.md", "~~~\na\n```\n", "~~~"),
        ("a.sql", "-- it's\nselect 1 /* b\n", "/*"),
        ("a.lua", "--[[ a\n", "--[["),
        ("a.unknown", '"""\n', ""),
        ("Makefile", '"""\n', ""),
    ],
)
def test_what_is_open_at_the_end_of_a_text(path: str, text: str, opened: str) -> None:
    assert open_at_end(text, path) == opened


def test_it_is_read_once_from_front_to_back() -> None:
    text = 'a = """1\n2\n"""\nb = 1\nc = """3\n4\n'
    lines = text.splitlines(keepends=True)
    unclosed = Unclosed(text, "a.py")
    offsets = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]
    assert [unclosed.at(offset) for offset in offsets] == ["", '"""', '"""', "", "", '"""', '"""']


DOCS = '"""What this is.\n\n' + "More about if and while.\n" * 20 + '"""\n\nimport os\n'


def colours(before: str, after: str, path: str) -> list[tuple[str, str]]:
    """The signs and roles of all pieces of the first hunk."""
    diff = diff_display(path, before, after)
    rows = highlight_hunk(diff.hunks[0], diff.path, diff.opened_before(0))
    return [piece for row in rows for piece in row if piece[0].strip()]


def test_a_hunk_inside_a_docstring_has_the_colours_that_the_file_has() -> None:
    after = DOCS.replace("More about", "Less about", 5)
    pieces = colours(DOCS, after.replace("Less", "More", 4), "a.py")
    assert {role for _, role in pieces} == {"string"}
    assert highlight(DOCS, path="a.py")[5] == [("More about if and while.", "string")]


def test_old_and_new_text_may_begin_inside_of_different_things() -> None:
    before = "x = 1\n" + "y = 2\n" * 30 + "for a in b: pass\n"
    after = '"""\n' + before.replace("pass", "return")
    diff = diff_display("a.py", before, after)
    assert diff.opened == (("", ""), ("", '"""'))
    rows = highlight_hunk(diff.hunks[1], diff.path, diff.opened_before(1))
    assert rows[-2][0] == ("for", "keyword")
    assert rows[-1] == [("for a in b: return", "string")]


def test_a_hunk_behind_closed_docstrings_needs_nothing() -> None:
    before = DOCS + "\n\n\n\nx = 1\n"
    assert diff_display("a.py", before, before.replace("x = 1", "x = 2")).opened == ()


def test_rows_keep_their_text_and_number() -> None:
    diff = diff_display("a.py", DOCS, DOCS.replace("while.", "until.", 1))
    rows = highlight_hunk(diff.hunks[0], diff.path, diff.opened_before(0))
    assert ["".join(text for text, _ in row) for row in rows] == [row.text for row in diff.hunks[0]]


@pytest.mark.parametrize(
    ("language", "line"), [("bash", "# the end"), ("python", "# the end"), ("c", "// end")]
)
def test_the_last_line_of_code_is_coloured_though_no_line_end_follows(language: str, line: str) -> None:
    assert highlight(f"a\n{line}", language)[-1] == [(line, "comment")]
    assert highlight(line, language) == [[(line, "comment")]]
    assert len(highlight("a\n", language)) == 2
