"""An edit changes what it names and not one byte more, whatever the file is made of (R7)."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from hypothesis import assume, given
from hypothesis import strategies as st

from keen_tui.domain.errors import ToolFailure
from tests.fuzz.budget import examples
from tests.support.tools import ToolBench

BOM = b"\xef\xbb\xbf"
_LINE_ENDS = ["\n", "\r", "\r\n", "\n\n", "\u2028", "\x85", "\x0c"]
_WORDS = ["a", "b", "ab", "\t", "  ", "é", "漢", "👩‍👩‍👧", "e\u0301", "\x1b[1m", "$1", "\\n"]
_PIECES = st.sampled_from(_WORDS + _LINE_ENDS)
contents = st.lists(_PIECES, max_size=30).map("".join)
olds = st.lists(_PIECES, min_size=1, max_size=4).map("".join)
news = st.lists(_PIECES, max_size=5).map("".join)


def edited(before: bytes, old: str, new: str, *, everywhere: bool = False) -> bytes | None:
    """The bytes of the file after an edit; None where it was refused, and then they are the same."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "f"
        file.write_bytes(before)
        file.chmod(0o640)
        bench = ToolBench(Path(folder))
        try:
            asyncio.run(bench("edit_file", path="f", old_text=old, new_text=new, replace_all=everywhere))
        except ToolFailure as failure:
            assert str(failure)
            assert file.read_bytes() == before, "what is refused changes nothing"
            return None
        finally:
            assert file.stat().st_mode & 0o777 == 0o640
            assert [path.name for path in Path(folder).iterdir()] == ["f"]
        return file.read_bytes()


def _cuts_a_line_end(before: str, behind: str) -> bool:
    """A line end of two characters is one: it is changed whole."""
    return before.endswith("\r") and behind.startswith("\n")


def plain(text: str) -> str:
    """With every line end as LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


@examples(150, 5_000)
@given(st.booleans(), contents, olds, contents, news)
def test_the_bytes_before_and_behind_an_edit_stay(
    has_bom: bool, head: str, old: str, tail: str, new: str
) -> None:
    assume(not _cuts_a_line_end(head, old) and not _cuts_a_line_end(old, tail))
    before = (BOM if has_bom else b"") + (head + old + tail).encode()
    after = edited(before, old, new)
    if after is None:
        return  # it is there more than once, or nothing changes
    lead, rest = len(before) - len((old + tail).encode()), len(tail.encode())
    assert after[:lead] == before[:lead]
    assert after[len(after) - rest :] == before[len(before) - rest :]
    middle = after[lead : len(after) - rest].decode()
    assert plain(middle) == plain(new), "in the middle stands the new text, its line ends those of the file"


@examples(100, 5_000)
@given(contents, olds, news)
def test_replacing_everywhere_changes_nothing_between_the_places(content: str, old: str, new: str) -> None:
    after = edited(content.encode(), old, new, everywhere=True)
    if after is not None and "\r" not in content + old + new:
        assert after.decode() == content.replace(old, new)


@examples(60, 3_000)
@given(
    contents.filter(lambda text: not text.isascii()),
    olds,
    news,
    st.sampled_from(["utf-16", "utf-16-le", "utf-32"]),
)
def test_a_file_in_another_encoding_is_left_alone(content: str, old: str, new: str, encoding: str) -> None:
    before = content.encode(encoding)
    after = edited(before, old, new)
    assert after is None or before.decode("utf-8") == content.encode(encoding).decode("utf-8")


@examples(60, 3_000)
@given(
    st.lists(st.sampled_from("aé\n"), min_size=1, max_size=20).map("".join).filter(lambda text: "é" in text),
    news,
)
def test_a_latin_1_file_is_left_alone(content: str, new: str) -> None:
    assert edited(content.encode("latin-1"), "a", new) is None


@examples(60, 5_000)
@given(st.binary(max_size=40), olds, news, st.booleans())
def test_whatever_bytes_are_there_an_edit_is_exact_or_refused(
    before: bytes, old: str, new: str, everywhere: bool
) -> None:
    after = edited(before, old, new, everywhere=everywhere)
    if after is not None:
        before.decode()  # only text was changed
        after.decode()
