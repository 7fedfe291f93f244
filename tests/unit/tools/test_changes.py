"""write_file and edit_file: what they change, and what they must not."""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keen_tui.domain.display import DiffDisplay
from keen_tui.domain.errors import ToolFailure
from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.domain.messages import ToolCall, ToolResult
from keen_tui.text.diff import diff_display
from keen_tui.tools.files.edits import replace_text
from tests.support.disk import largest_file
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


async def test_a_key_that_is_shown_masked_is_not_overwritten_by_its_mask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "made-up-value-of-a-key")
    file = tmp_path / "f.py"
    file.write_text("KEY = 'made-up-value-of-a-key'\nA = 1\n")
    bench = ToolBench(tmp_path)
    with pytest.raises(ToolFailure, match=r"shown as \[key\].* edit_file"):
        await bench("write_file", path="f.py", content="KEY = '[key]'\nA = 2\n")
    assert file.read_text() == "KEY = 'made-up-value-of-a-key'\nA = 1\n"
    await bench("write_file", path="f.py", content="KEY = os.environ['K']\n")
    await bench("write_file", path="f.py", content="KEY = '[key]'\n")
    assert file.read_text() == "KEY = '[key]'\n", "there was no key any more"


async def test_an_edit_of_what_keen_is_loaded_from_is_known_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path / "lib"))
    bench = ToolBench(tmp_path)
    for path, is_own_code in (("lib/a.py", True), ("src/a.py", False)):
        call = ToolCall(id="1", name="write_file", arguments={"path": path, "content": "x"})
        assert (await bench.toolbox.prepare(call)).access.is_own_code == is_own_code


async def test_lines_match_whatever_ending_the_file_has(tmp_path: Path) -> None:
    file = tmp_path / "f.txt"
    file.write_bytes(b"a\r\nb\r\nc\r\n")
    await ToolBench(tmp_path)("edit_file", path="f.txt", old_text="a\nb\n", new_text="a\nx\ny\n")
    assert file.read_bytes() == b"a\r\nx\r\ny\r\nc\r\n"


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"\ra\n", "\ra\n", "\n\n", b"\r\r\n"),
        (b"a\nb\rc\r", "a", "a\n", b"a\r\n\nb\rc\r"),
        (b"a\rb\nc\nd", "b", "\nb", b"a\r\r\nb\nc\nd"),
    ],
)
async def test_where_endings_are_mixed_two_never_become_one(
    tmp_path: Path, before: bytes, old: str, new: str, after: bytes
) -> None:
    file = tmp_path / "f.txt"
    file.write_bytes(before)
    await ToolBench(tmp_path)("edit_file", path="f.txt", old_text=old, new_text=new)
    assert file.read_bytes() == after


async def test_mixed_endings_stay_where_the_lines_stay(tmp_path: Path) -> None:
    file = tmp_path / "f.txt"
    file.write_bytes(b"a\r\nb\nc\rd\n")
    await ToolBench(tmp_path)("edit_file", path="f.txt", old_text="a\nb\nc\nd", new_text="a\nB\nc\nd")
    assert file.read_bytes() == b"a\r\nB\nc\rd\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\r\nb\r\n", b"x\r\ny\r\n"),
        (b"\xef\xbb\xbfa\n", b"\xef\xbb\xbfx\ny\n"),
        (b"a\r\nb\n", b"x\ny\n"),
        (b"a", b"x\ny\n"),
    ],
    ids=["CRLF", "BOM", "mixed", "none"],
)
async def test_a_whole_file_keeps_its_line_endings_and_its_mark(
    tmp_path: Path, before: bytes, after: bytes
) -> None:
    (tmp_path / "f").write_bytes(before)
    await ToolBench(tmp_path)("write_file", path="f", content="x\ny\n")
    assert (tmp_path / "f").read_bytes() == after


async def test_endings_that_are_asked_for_are_written(tmp_path: Path) -> None:
    await ToolBench(tmp_path)("write_file", path="f", content="x\r\n")
    assert (tmp_path / "f").read_bytes() == b"x\r\n"
    diff = await ToolBench(tmp_path).preview("write_file", path="f", content="x\r\ny")
    assert isinstance(diff, DiffDisplay)
    assert (diff.added, diff.removed) == (1, 0)


async def test_a_change_of_the_last_line_end_alone_is_shown(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    diff = await ToolBench(tmp_path).preview("write_file", path="f", content="x\n")
    assert isinstance(diff, DiffDisplay)
    assert (diff.added, diff.removed) == (1, 1)


async def test_matches_that_overlap_are_not_unique(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("aaa")
    with pytest.raises(ToolFailure, match="2 times"):
        await ToolBench(tmp_path)("edit_file", path="f", old_text="aa", new_text="b")
    assert (tmp_path / "f").read_text() == "aaa"


async def test_a_line_end_of_two_characters_is_one(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"a\r\nb\r\n")
    await ToolBench(tmp_path)("edit_file", path="f", old_text="\nb", new_text="\nB")
    assert (tmp_path / "f").read_bytes() == b"a\r\nB\r\n"


async def test_copied_line_numbers_are_named(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("one\ntwo\n")
    with pytest.raises(ToolFailure, match="begins with line numbers"):
        await ToolBench(tmp_path)("edit_file", path="f", old_text="1\tone\n2\ttwo", new_text="x")


async def test_the_nearest_lines_are_those_with_the_same_neighbours(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("if a:\n    return None\nif b:\n    return None\n")
    with pytest.raises(ToolFailure, match=r"(?s)only in white space.*\n3\tif b:\n4\t    return None$"):
        await ToolBench(tmp_path)("edit_file", path="f", old_text="if b:\n  return None", new_text="")


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
    with pytest.raises(ToolFailure, match="only in white space"):
        await ToolBench(tmp_path)("edit_file", path="f.py", old_text="if x:\n    return 1", new_text="")


@pytest.mark.parametrize(
    ("old", "new", "words"), [("", "x", "old_text is empty"), ("same", "same", "nothing to change")]
)
async def test_edits_that_say_nothing_are_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    (tmp_path / "f").write_text("same")
    with pytest.raises(ToolFailure, match=words):
        await ToolBench(tmp_path)("edit_file", path="f", old_text=old, new_text=new)


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


async def test_a_file_changed_since_it_was_read_is_refused_until_it_is_read_again(tmp_path: Path) -> None:
    file, bench = tmp_path / "f", ToolBench(tmp_path)
    file.write_text("one\n")
    await bench("read_file", path="f")
    times = file.stat()
    file.write_text("two\n")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    for name, arguments in (
        ("write_file", {"content": "mine\n"}),
        ("edit_file", {"old_text": "two", "new_text": "mine"}),
    ):
        with pytest.raises(ToolFailure, match="changed on disk since it was read"):
            await bench(name, path="f", **arguments)
    await bench("read_file", path="f")
    await bench("edit_file", path="f", old_text="two", new_text="mine")
    await bench("edit_file", path="f", old_text="mine", new_text="again")
    assert file.read_text() == "again\n"


async def test_a_file_removed_since_it_was_read_is_not_made_anew_unseen(tmp_path: Path) -> None:
    file, bench = tmp_path / "f", ToolBench(tmp_path)
    file.write_text("one\n")
    await bench("read_file", path="f")
    file.unlink()
    with pytest.raises(ToolFailure, match="removed since it was read"):
        await bench("write_file", path="f", content="x")
    with pytest.raises(ToolFailure, match="does not exist"):
        await bench("read_file", path="f")
    await bench("write_file", path="f", content="x")
    assert file.read_text() == "x"


async def test_two_changes_of_one_file_at_once_do_not_lose_one(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a b\n")
    toolbox = ToolBench(tmp_path).toolbox
    calls = [
        ToolCall(id=old, name="edit_file", arguments={"path": "f", "old_text": old, "new_text": old * 2})
        for old in "ab"
    ]
    prepared = [await toolbox.prepare(call) for call in calls]
    outcomes = await asyncio.gather(*(each.run(lambda *_: None) for each in prepared), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [ToolResult, ToolFailure]
    assert (tmp_path / "f").read_text() == "aa b\n"


@pytest.mark.parametrize("content", [b"caf\xe9", "x".encode("utf-16"), b"a\0b"])
async def test_what_is_no_utf8_text_is_left_alone(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "f").write_bytes(content)
    for name, arguments in (
        ("write_file", {"content": "x"}),
        ("edit_file", {"old_text": "a", "new_text": "b"}),
    ):
        with pytest.raises(ToolFailure, match="left alone"):
            await ToolBench(tmp_path)(name, path="f", **arguments)
    assert (tmp_path / "f").read_bytes() == content


async def test_a_read_only_file_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("x")
    file.chmod(0o444)
    with pytest.raises(ToolFailure, match="read-only"):
        await ToolBench(tmp_path)("write_file", path="f", content="y")
    assert file.read_text() == "x"


@pytest.mark.parametrize("links", [1, 2])
async def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path, links: int) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "f").write_text("old" * 100)
    if links > 1:
        os.link(folder / "f", tmp_path / "other name")
    bench = ToolBench(folder)
    with largest_file(100_000), pytest.raises(ToolFailure, match=r"can't be written: File too large"):
        await bench("write_file", path="f", content="y" * 200_000)
    assert (folder / "f").read_text() == "old" * 100
    assert [path.name for path in folder.iterdir()] == ["f"]


async def test_a_folder_swapped_for_a_link_after_the_question_is_refused(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "sub").mkdir(parents=True)
    outside.mkdir()
    call = ToolCall(id="1", name="write_file", arguments={"path": "sub/f", "content": "x"})
    prepared = await ToolBench(root).toolbox.prepare(call)
    (root / "sub").rmdir()
    (root / "sub").symlink_to(outside)
    with pytest.raises(ToolFailure, match="isn't a folder"):
        await prepared.run(lambda *_: None)
    assert not list(outside.iterdir())


async def test_a_link_out_of_the_workspace_is_asked_about_as_outside(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret").write_text("x")
    (root / "link").symlink_to(tmp_path / "secret")
    call = ToolCall(id="1", name="write_file", arguments={"path": "link", "content": "y"})
    access = (await ToolBench(root).toolbox.prepare(call)).access
    assert (access.inside, access.subject) == (False, str((tmp_path / "secret").resolve()))


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="no extended attributes on this system")
async def test_extended_attributes_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("x")
    try:
        os.setxattr(file, "user.keen", b"kept")
    except OSError:
        pytest.skip("no extended attributes on this file system")
    await ToolBench(tmp_path)("write_file", path="f", content="y")
    assert os.getxattr(file, "user.keen") == b"kept"


async def test_a_name_that_fills_all_bytes_can_be_written(tmp_path: Path) -> None:
    name = "é" * 127
    await ToolBench(tmp_path)("write_file", path=name, content="x")
    assert (tmp_path / name).read_text() == "x"


def test_lines_that_repeat_all_the_time_are_compared_in_no_time() -> None:
    diff = diff_display("f", "a\nb\n" * 900, "b\nb\na\n" * 600)
    assert diff.added and diff.removed
    assert sum(len(hunk) for hunk in diff.hunks) + diff.left_out >= diff.added + diff.removed


def test_a_long_diff_is_cut_and_counted() -> None:
    diff = diff_display("f", "", "x\n" * 10_000)
    assert (diff.added, diff.removed, diff.total_lines) == (10_000, 0, 10_000)
    assert sum(len(hunk) for hunk in diff.hunks) == 600
    assert diff.left_out == 9_400


def test_only_three_lines_around_a_change_are_shown() -> None:
    before = [f"{number}\n" for number in range(10_000)]
    after = [*before[:5_000], "new\n", *before[5_000:]]
    diff = diff_display("f", "".join(before), "".join(after))
    assert [row.text for row in diff.hunks[0]] == ["4997", "4998", "4999", "new", "5000", "5001", "5002"]
    assert len(diff.hunks) == 1
    assert diff.left_out == 0


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
