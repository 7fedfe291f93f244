"""Output that is too long for a result: the model is told of a file and may read it."""

from __future__ import annotations

import asyncio
import os
import re
import time
from pathlib import Path

import pytest

from keen_tui.agent.services.undo import TurnBackup
from keen_tui.demo.script import Call, Reply, Say
from keen_tui.domain.events import ToolFinished
from keen_tui.domain.messages import ToolCall, ToolResult
from keen_tui.storage.outputs import OutputFiles
from keen_tui.tools.permissions.permissions import ALLOW, Allowed, judge
from keen_tui.tools.toolbox import build_toolbox
from tests.support.faults import DONE
from tests.support.saving import place
from tests.support.waiting import until

LINES = "seq 100000"


class LongOutputs:
    """The tools in a workspace, with the files of one session's output beside it."""

    def __init__(self, folder: Path) -> None:
        self.outputs = folder / "outputs"
        backup = TurnBackup()
        backup.outputs = OutputFiles(self.outputs / "this-session")
        backup.turn = lambda: 3
        (folder / "work").mkdir()
        self.toolbox = build_toolbox(folder / "work", backup)

    async def run(self, name: str, *, may: bool = True, **arguments: object) -> ToolResult:
        """Run a call that plan mode allows; bash it is never asked for."""
        prepared = await self.toolbox.prepare(ToolCall(id="1", name=name, arguments=arguments))
        assert name == "bash" or (judge("plan", prepared.access, Allowed()) == ALLOW) == may
        return await prepared.run(lambda *_: None)


@pytest.fixture
def tools(tmp_path: Path) -> LongOutputs:
    return LongOutputs(tmp_path)


async def test_what_a_result_left_out_can_be_read_and_searched_without_a_question(tools: LongOutputs) -> None:
    result = await tools.run("bash", command=LINES)
    named = re.search(
        r"\[… [\d,]+ lines, [\d,]+ bytes left out; the whole output is in (.+) …\]", result.text
    )
    assert named
    assert Path(named[1]) == tools.outputs / "this-session" / "turn-3-1.txt"
    read = await tools.run("read_file", path=named[1], offset=50_000, limit=1)
    assert read.text.startswith("50000\t50000\n")
    found = await tools.run("grep_files", pattern="^5000$", path=named[1])
    assert found.summary == "1 match"
    second = await tools.run("bash", command=LINES)
    assert "turn-3-2.txt" in second.text


async def test_other_files_there_are_as_outside_as_before(tools: LongOutputs) -> None:
    other = tools.outputs / "another-session"
    other.mkdir(parents=True)
    (other / "turn-1-1.txt").write_text("not yours\n")
    for path in (
        other / "turn-1-1.txt",
        tools.outputs / "this-session" / ".." / "another-session" / "turn-1-1.txt",
    ):
        await tools.run("read_file", path=str(path), may=False)
    await tools.run("bash", command=LINES)
    (tools.outputs / "this-session" / "link.txt").symlink_to(other / "turn-1-1.txt")
    await tools.run("read_file", path=str(tools.outputs / "this-session" / "link.txt"), may=False)


@pytest.mark.parametrize("background", [False, True])
async def test_endless_output_takes_little_of_the_disk(tools: LongOutputs, *, background: bool) -> None:
    if background:
        started = await tools.run("bash", command="yes", background=True)
        assert "runs in the background as t1" in started.text
        task = tools.toolbox.tasks.find("t1")
        await until(lambda: task.output.size > 200_000_000)
        assert "only the first 12,000,000 bytes" in (await tools.run("task_output", id="t1")).text
        await task.stop()
        said = (await tools.run("task_output", id="t1")).text
    else:
        said = (await tools.run("bash", command="yes | head -c 200000001")).text
    (file,) = (tools.outputs / "this-session").iterdir()
    assert f"the first 12,000,000 and the last 4,000,000 bytes are in {file}" in said
    assert file.stat().st_size < 16_000_100


async def test_an_interrupted_command_leaves_no_file(tools: LongOutputs, tmp_path: Path) -> None:
    running = asyncio.create_task(tools.run("bash", command=f"{LINES}; touch written; sleep 600"))
    await until((tmp_path / "work" / "written").exists)
    running.cancel()
    await asyncio.wait({running})
    assert list(tools.outputs.rglob("*.txt")) == []


def test_a_session_keeps_no_more_than_its_newest_outputs(tmp_path: Path) -> None:
    files = OutputFiles(tmp_path, most_bytes=2_500)
    for turn in (1, 2, 3):
        file = files.new(turn)
        file.write_bytes(b"x" * 1_000)
        os.utime(file, (turn, turn))
    files.new(4)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["turn-2-1.txt", "turn-3-1.txt"]


async def test_long_output_goes_with_its_session_or_when_it_is_old(tmp_path: Path) -> None:
    script = [Reply([Call("bash", {"command": LINES})]), DONE, Reply([Say("Ok.")])]
    async with place(tmp_path, "openai-chat", script) as here:
        async with here.program() as bench:
            name = bench.history.session_id
            await bench.ask("count")
            file = here.home / "outputs" / name / "turn-1-1.txt"
            assert str(file) in bench.log.of(ToolFinished)[0].result.text
            assert file.exists()
        old = here.home / "outputs" / "old" / "turn-1-1.txt"
        old.parent.mkdir()
        old.write_text("x")
        os.utime(old, (time.time() - 40 * 86_400,) * 2)
        async with here.program() as bench:
            await bench.history.delete(name)
        assert not file.parent.exists()
        assert not old.parent.exists()
