"""What the tools change is taken back byte by byte, in whatever order, and after a kill."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keen_tui.agent.services.undo import TurnBackup
from keen_tui.domain.messages import ToolCall
from keen_tui.storage.checkpoints.checkpoints import Checkpoints
from keen_tui.tools.toolbox import build_toolbox


class Bench:
    """The tools in a project, with a backup."""

    def __init__(self, place: Path) -> None:
        self.root = place / "project"
        self.root.mkdir(parents=True)
        self.folder = place / "kept"
        self.checkpoints = Checkpoints(self.folder)
        self.turn = 1
        self.backup = TurnBackup()
        self.backup.checkpoints, self.backup.turn = self.checkpoints, lambda: self.turn
        self.toolbox = build_toolbox(self.root, self.backup)

    async def run(self, name: str, **arguments: Any) -> None:
        prepared = await self.toolbox.prepare(ToolCall(id="1", name=name, arguments=arguments))
        await prepared.run(lambda *_: None)

    def tree(self) -> dict[str, tuple[bytes, int]]:
        """Every file with its content and its mode."""
        return {
            str(file.relative_to(self.root)): (file.read_bytes(), file.stat().st_mode)
            for file in self.root.rglob("*")
            if file.is_file()
        }


async def test_a_turn_of_all_kinds_of_changes_is_taken_back(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    (bench.root / "crlf").write_bytes(b"one\r\ntwo\r\n")
    (bench.root / "bom").write_bytes(b"\xef\xbb\xbfone\n")
    (bench.root / "run.sh").write_bytes(b"one")
    (bench.root / "run.sh").chmod(0o750)
    os.link(bench.root / "run.sh", bench.root / "same.sh")
    (bench.root / "link").symlink_to("crlf")
    before = bench.tree()
    for path in ("crlf", "bom", "run.sh"):
        await bench.run("edit_file", path=path, old_text="one", new_text="1\n1")
    await bench.run("write_file", path="link", content="whole")
    await bench.run("write_file", path="new/deep/f", content="x")
    assert len(bench.tree()) == len(before) + 1
    undone = bench.checkpoints.undo(1)
    assert undone.problems == ()
    assert set(undone.files) == {"crlf", "bom", "run.sh", "new/deep/f"}
    assert bench.tree() == before


CHANGES = st.lists(
    st.tuples(st.integers(1, 4), st.sampled_from("abc"), st.text("xy\n", max_size=4)), max_size=12
)


@settings(max_examples=25)
@given(changes=CHANGES)
def test_undone_from_the_newest_turn_on_everything_is_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, str, str]]
) -> None:
    bench = Bench(tmp_path_factory.mktemp("undo"))
    (bench.root / "a").write_bytes(b"first\r\n")
    states = {0: bench.tree()}

    async def play() -> None:
        for turn, path, content in sorted(changes, key=lambda change: change[0]):
            bench.turn = turn
            await bench.run("write_file", path=path, content=content)
            states[turn] = bench.tree()

    asyncio.run(play())
    turns = sorted(states)
    while newest := bench.checkpoints.newest_turn():
        assert bench.checkpoints.undo(newest).problems == ()
        assert bench.tree() == states[max(turn for turn in turns if turn < newest)]
    assert bench.tree() == states[0]
    assert bench.checkpoints.changes(0) == ()


_EDITS = """\
import asyncio, sys
from pathlib import Path
from tests.contract.test_undo import Bench
bench = Bench(Path(sys.argv[1]))
(bench.root / "a").write_bytes(b"original")
async def play():
    for number in range(100_000):
        await bench.run("write_file", path="a", content=f"a{number}" * 1_000)
        await bench.run("write_file", path=f"b{number % 7}", content=f"b{number}" * 1_000)
        print(number, flush=True)
asyncio.run(play())
"""


@pytest.mark.parametrize("edits", [1, 2, 5, 11, 23])
def test_a_kill_while_files_are_changed_leaves_nothing_that_cannot_be_taken_back(
    tmp_path: Path, edits: int
) -> None:
    place = tmp_path / "bench"
    command = [sys.executable, "-c", _EDITS, str(place)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as editing:
        assert editing.stdout
        for _ in range(edits):
            editing.stdout.readline()
        editing.kill()
    checkpoints = Checkpoints(place / "kept")
    undone = checkpoints.undo(1)
    assert undone.problems == ()
    files = [file for file in (place / "project").iterdir() if not file.name.startswith(".keen-")]
    assert [(file.name, file.read_bytes()) for file in files] == [("a", b"original")]
