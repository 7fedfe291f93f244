"""Files through an editor: what counts as their content, and how they are changed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from keen_tui.domain.errors import ToolFailure
from keen_tui.tools.files.contents import change_content, current_content
from keen_tui.tools.files.workspace import Workspace


class Buffers:
    """An editor with these unsaved texts; it writes to the disk unless it `refuses` or `hangs`."""

    def __init__(self, **texts: str) -> None:
        self.texts = texts
        self.writes = True
        self.refuses = False
        self.hangs = False
        self.begun = asyncio.Event()

    async def read(self, path: Path) -> str | None:
        return self.texts.get(path.stem)

    async def write(self, path: Path, text: str) -> None:
        self.begun.set()
        if self.hangs:
            await asyncio.Event().wait()
        if self.refuses:
            raise ToolFailure("the editor couldn't")
        self.texts.pop(path.stem, None)
        path.write_text(text, "utf-8", newline="")


@pytest.fixture
def buffers() -> Buffers:
    return Buffers()


@pytest.fixture
def workspace(tmp_path: Path, buffers: Buffers) -> Workspace:
    return Workspace(tmp_path, editor=buffers)


async def test_unsaved_changes_count(workspace: Workspace, buffers: Buffers) -> None:
    (workspace.root / "a").write_bytes(b"saved\n")
    assert await current_content(workspace, workspace.place("a")) == b"saved\n"
    buffers.texts["a"] = "unsaved\n"
    assert await current_content(workspace, workspace.place("a")) == b"unsaved\n"


async def test_line_endings_that_an_editor_leaves_out_are_no_change(
    workspace: Workspace, buffers: Buffers
) -> None:
    (workspace.root / "a").write_bytes(b"one\r\ntwo\r\n")
    buffers.texts["a"] = "one\ntwo\n"
    assert await current_content(workspace, workspace.place("a")) == b"one\r\ntwo\r\n"
    buffers.texts["a"] = "one\n2\n"
    assert await current_content(workspace, workspace.place("a")) == b"one\r\n2\r\n"


@pytest.mark.parametrize("content", [b"\xef\xbb\xbftext\n", b"\xff\xfe", b"a\0b"])
async def test_what_an_editor_may_show_differently_is_read_from_the_disk(
    workspace: Workspace, buffers: Buffers, content: bytes
) -> None:
    (workspace.root / "a").write_bytes(content)
    buffers.texts["a"] = "shown differently"
    assert await current_content(workspace, workspace.place("a")) == content


async def test_a_file_that_is_not_saved_yet(workspace: Workspace, buffers: Buffers) -> None:
    assert await current_content(workspace, workspace.place("a")) is None
    buffers.texts["a"] = ""
    assert await current_content(workspace, workspace.place("a")) is None
    buffers.texts["a"] = "new\n"
    assert await current_content(workspace, workspace.place("a")) == b"new\n"


async def test_a_change_since_it_was_read_is_refused(workspace: Workspace, buffers: Buffers) -> None:
    (workspace.root / "a").write_bytes(b"one\n")
    buffers.texts["a"] = "mine\n"
    with pytest.raises(ToolFailure, match="changed since it was read"):
        await change_content(workspace, workspace.place("a"), b"one\n", b"two\n")
    assert (workspace.root / "a").read_bytes() == b"one\n"


async def test_the_editor_makes_folders_and_files(workspace: Workspace) -> None:
    await change_content(workspace, workspace.place("x/y/a"), None, b"new\n")
    assert (workspace.root / "x/y/a").read_bytes() == b"new\n"


async def test_a_refusal_of_the_editor_is_a_failure(workspace: Workspace, buffers: Buffers) -> None:
    buffers.refuses = True
    with pytest.raises(ToolFailure, match="couldn't"):
        await change_content(workspace, workspace.place("a"), None, b"new\n")


async def test_an_editor_that_takes_no_changes_is_passed_over(workspace: Workspace, buffers: Buffers) -> None:
    buffers.writes = False
    await change_content(workspace, workspace.place("a"), None, b"new\n")
    assert (workspace.root / "a").read_bytes() == b"new\n"
    assert not buffers.begun.is_set()


async def test_an_editor_that_never_answers_can_be_given_up(
    workspace: Workspace, buffers: Buffers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keen_tui.tools.files.contents.WRITE_SECONDS", 0.01)
    buffers.hangs = True
    writing = asyncio.create_task(change_content(workspace, workspace.place("a"), None, b"new\n"))
    await buffers.begun.wait()
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
