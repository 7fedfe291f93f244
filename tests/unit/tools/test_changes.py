"""write_file and edit_file: what they change, and what they must not."""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keen_tui.display import DiffDisplay
from keen_tui.errors import ToolFailure
from keen_tui.messages import FileChanged, ToolCall
from keen_tui.tools.diff import diff_display
from keen_tui.tools.edits import replace_text
from tests.support.tools import ToolBench


@pytest.mark.parametrize(
    "before",
    [
        b"one\ntwo\nthree\n",
        b"one\r\ntwo\r\nthree\r\n",
        b"one\rtwo\rthree",
        b"\xef\xbb\xbfone\r\ntwo\nthree",
        "ünö\n\ttwo  \n".encode(),
    ],
)
async def test_an_edit_changes_nothing_outside_its_place(tmp_path: Path, before: bytes) -> None:
    file = tmp_path / "f.txt"
    file.write_bytes(before)
    result = await ToolBench(tmp_path)("edit_file", path="f.txt", old_text="two", new_text="2")
    assert file.read_bytes() == before.replace(b"two", b"2")
    assert result.facts == (FileChanged(path="f.txt"),)


async def test_lines_match_whatever_ending_the_file_has(tmp_path: Path) -> None:
    file = tmp_path / "f.txt"
    file.write_bytes(b"a\r\nb\r\nc\r\n")
    await ToolBench(tmp_path)("edit_file", path="f.txt", old_text="a\nb\n", new_text="a\nx\ny\n")
    assert file.read_bytes() == b"a\r\nx\r\ny\r\nc\r\n"


async def test_several_matches_are_named_by_line_and_nothing_is_changed(tmp_path: Path) -> None:
    file = tmp_path / "f.txt"
    file.write_text("x\ny\nx\n")
    with pytest.raises(ToolFailure, match="2 times, in lines 1, 3"):
        await ToolBench(tmp_path)("edit_file", path="f.txt", old_text="x", new_text="z")
    assert file.read_text() == "x\ny\nx\n"
    await ToolBench(tmp_path)("edit_file", path="f.txt", old_text="x", new_text="z", replace_all=True)
    assert file.read_text() == "z\ny\nz\n"


async def test_no_match_shows_the_nearest_lines(tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text("def a():\n    return 1\n\ndef total():\n    return 2\n")
    with pytest.raises(ToolFailure, match=r"(?s)nearest lines.*4\tdef total\(\):"):
        await ToolBench(tmp_path)("edit_file", path="f.py", old_text="def totals():", new_text="")


async def test_white_space_alone_is_named_as_the_difference(tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text("if x:\n\treturn 1\n")
    with pytest.raises(ToolFailure, match="white space only"):
        await ToolBench(tmp_path)("edit_file", path="f.py", old_text="if x:\n    return 1", new_text="")


@pytest.mark.parametrize(
    ("old", "new", "words"), [("", "x", "old_text is empty"), ("same", "same", "nothing to change")]
)
async def test_edits_that_say_nothing_are_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    (tmp_path / "f").write_text("same")
    with pytest.raises(ToolFailure, match=words):
        await ToolBench(tmp_path)("edit_file", path="f", old_text=old, new_text=new)


@pytest.mark.parametrize("content", [b"caf\xe9\n", "text\n".encode("utf-16"), b"a\0b"])
async def test_what_is_no_utf8_text_is_left_alone(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(ToolFailure, match="left alone"):
        await ToolBench(tmp_path)("edit_file", path="f", old_text="a", new_text="b")
    assert (tmp_path / "f").read_bytes() == content


async def test_preparing_touches_nothing_and_shows_the_diff(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("one\n")
    diff = await ToolBench(tmp_path).preview("write_file", path="f", content="two\n")
    assert isinstance(diff, DiffDisplay)
    assert (diff.added, diff.removed) == (1, 1)
    assert (tmp_path / "f").read_text() == "one\n"
    await ToolBench(tmp_path).preview("write_file", path="new/deep/g", content="x")
    assert not (tmp_path / "new").exists()


async def test_folders_on_the_way_are_made_and_no_temporary_file_stays(tmp_path: Path) -> None:
    await ToolBench(tmp_path)("write_file", path="new/deep/g.txt", content="x")
    assert [path.name for path in (tmp_path / "new/deep").iterdir()] == ["g.txt"]


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o644])
async def test_mode_bits_are_kept(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "f"
    file.write_text("x")
    file.chmod(mode)
    await ToolBench(tmp_path)("write_file", path="f", content="y")
    assert stat.S_IMODE(file.stat().st_mode) == mode


async def test_hard_links_and_symlinks_stay_links(tmp_path: Path) -> None:
    file, hard, soft = tmp_path / "f", tmp_path / "hard", tmp_path / "soft"
    file.write_text("a long old content")
    os.link(file, hard)
    soft.symlink_to(file)
    await ToolBench(tmp_path)("write_file", path="hard", content="1")
    assert file.read_text() == "1"
    result = await ToolBench(tmp_path)("write_file", path="soft", content="2")
    assert soft.is_symlink()
    assert hard.read_text() == "2"
    assert result.facts == (FileChanged(path="f"),)


async def test_a_file_changed_since_it_was_looked_at_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("one\n")
    call = ToolCall(id="1", name="write_file", arguments={"path": "f", "content": "mine\n"})
    prepared = await ToolBench(tmp_path).toolbox.prepare(call)
    file.write_text("theirs\n")
    with pytest.raises(ToolFailure, match="changed on disk"):
        await prepared.run(lambda *_: None)
    assert file.read_text() == "theirs\n"


async def test_the_same_content_is_no_change(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    assert (await ToolBench(tmp_path)("write_file", path="f", content="x")).facts == ()


async def test_a_write_that_has_begun_finishes_when_it_is_cancelled(tmp_path: Path) -> None:
    content = "x" * 5_000_000
    call = ToolCall(id="1", name="write_file", arguments={"path": "f", "content": content})
    prepared = await ToolBench(tmp_path).toolbox.prepare(call)

    async def run() -> object:
        return await prepared.run(lambda *_: None)

    writing = asyncio.create_task(run())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    writing.cancel()
    await asyncio.wait({writing})
    assert (tmp_path / "f").read_text() == content
    assert not writing.cancelled()


@pytest.mark.parametrize("path", ["folder", "pipe", "loop"])
async def test_what_is_no_file_is_named_and_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    for name, arguments in (("read_file", {}), ("write_file", {"content": "x"})):
        with pytest.raises(ToolFailure, match=path):
            await ToolBench(tmp_path)(name, path=path, **arguments)


async def test_a_parent_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    with pytest.raises(ToolFailure):
        await ToolBench(tmp_path)("write_file", path="f/g", content="x")


@given(st.text(alphabet="ab\n\r", max_size=30), st.text(alphabet="ab\n", min_size=1, max_size=4))
def test_replacing_everywhere_leaves_the_rest_alone(content: str, old: str) -> None:
    try:
        changed = replace_text(content, old, "Z", everywhere=True)
    except ToolFailure:
        return
    rest = changed.replace("Z", "")
    assert len(rest) < len(content)
    kept = iter(content)
    assert all(char in kept for char in rest), "what is left is what was there, in order"


@given(st.lists(st.sampled_from("abc"), max_size=40), st.lists(st.sampled_from("abc"), max_size=40))
def test_a_diff_tells_all_that_changed(old: list[str], new: list[str]) -> None:
    diff = diff_display("f", "\n".join(old), "\n".join(new))
    rows = [row for hunk in diff.hunks for row in hunk]
    assert sum(row.sign == "+" for row in rows) - sum(row.sign == "-" for row in rows) == len(
        "\n".join(new).splitlines()
    ) - len("\n".join(old).splitlines())
    assert all(new[row.number - 1] == row.text for row in rows if row.sign != "-")
    assert all(old[row.number - 1] == row.text for row in rows if row.sign == "-")
