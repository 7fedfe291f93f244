"""What a run without a screen tells about a turn is on the disk already (docs/guide/headless.md)."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from keen_tui.agent.services.session_manager import SessionManager
from keen_tui.agent.services.undo import TurnBackup
from keen_tui.agent.session import Session
from keen_tui.agent.subagents.sub_agents import SubAgents
from keen_tui.agent.turn.approvals import Permissions
from keen_tui.agent.turn.turn_setup import TurnOptions
from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Call, Reply, Say
from keen_tui.domain.choices import Output
from keen_tui.frontends.headless.run import run_prompt
from keen_tui.storage.lookup.sessions import SessionStore
from keen_tui.tools.toolbox import build_toolbox
from tests.support.agent import ONE_ATTEMPT, provider_for
from tests.support.breaking_file import BreakingFile, Disk, refused
from tests.support.program import Run
from tests.support.sub_agents import own_home, said, server_of, task, with_agents
from tests.support.waiting import until

WRITE = Call("write_file", {"path": "a.py", "content": "x"})
SCRIPT = [Reply([WRITE]), Reply([Say("Done.")])]
TOLD_WHEN_SAVED = {"turn_started", "tool_finished", "turn_done"}


class GatedDisk(Disk):
    """A disk that is as slow as the test wants: each wait for it needs a permit."""

    def __init__(self) -> None:
        super().__init__()
        self.permits = asyncio.Semaphore(0)
        self.waiting = 0

    async def open(self, path: Path) -> Any:
        disk = self

        class Gated(BreakingFile):
            async def flush(self) -> None:
                disk.waiting += 1
                await disk.permits.acquire()
                await super().flush()

        opened = await super().open(path)
        return Gated(opened.file, self)


@asynccontextmanager
async def turn(
    folder: Path, disk: Disk, output: Output
) -> AsyncIterator[tuple[asyncio.Task[int], io.StringIO, io.StringIO]]:
    """A turn that runs, with its two outputs."""
    workspace = folder / "work"
    workspace.mkdir()
    out, err = io.StringIO(), io.StringIO()
    async with ModelServer(SCRIPT) as server:
        backup = TurnBackup()
        session = Session(
            workspace=workspace,
            provider=provider_for(server, "openai-chat"),
            agents=SubAgents(),
            toolbox=build_toolbox(workspace, backup),
            permissions=Permissions(mode="auto"),
            options=TurnOptions(retries=ONE_ATTEMPT),
        )
        history = SessionManager(session, SessionStore(folder / "home"), backup, opener=disk.open)
        yield asyncio.create_task(run_prompt(session, "write it", output, out, err, history)), out, err


def types(out: io.StringIO) -> list[str]:
    return [record["type"] for record in Run(0, out.getvalue(), "").records]


@pytest.mark.parametrize("output", ["text", "json", "stream-json"])
async def test_nothing_is_told_as_done_before_the_disk_has_it(tmp_path: Path, output: Output) -> None:
    disk, seen = GatedDisk(), 0
    async with turn(tmp_path, disk, output) as (running, out, _):
        while not running.done():
            await until(lambda before=seen: disk.waiting > before or running.done())  # type: ignore[misc]
            seen = disk.waiting
            for _ in range(100):  # whoever does not wait for the disk has the time to say it now
                await asyncio.sleep(0.001)
            saved = types_on_disk(tmp_path, disk)
            if output == "stream-json":
                assert {each for each in types(out) if each in TOLD_WHEN_SAVED} <= saved
            elif "turn_done" not in saved:
                assert out.getvalue() == ""
            disk.permits.release()
        assert await running == 0
    assert seen >= 2
    assert "Done." in out.getvalue()


def types_on_disk(folder: Path, disk: Disk) -> set[str]:
    """The types of the records that the disk has for sure."""
    content = b"".join(file.read_bytes()[: disk.safe] for file in folder.glob("home/sessions/*/*.jsonl"))
    return {json.loads(line)["type"] for line in content.splitlines()}


async def test_a_disk_that_refuses_costs_no_answer_and_is_told_in_it(tmp_path: Path) -> None:
    disk = Disk()
    disk.on_write = refused(28)
    async with turn(tmp_path, disk, "json") as (running, out, err):
        assert await running == 0
    record = json.loads(out.getvalue())
    assert (record["text"], record["saved"]) == ("Done.", False)
    assert any("No space left on device" in notice for notice in record["notices"])
    assert "could not be saved" in err.getvalue()


async def test_events_say_whether_they_are_saved(tmp_path: Path) -> None:
    async with turn(tmp_path, Disk(), "stream-json") as (running, out, _):
        assert await running == 0
    records = Run(0, out.getvalue(), "").records
    assert {each["type"]: each["saved"] for each in records if "saved" in each} == dict.fromkeys(
        TOLD_WHEN_SAVED, True
    )


async def test_a_call_of_a_sub_agent_is_told_when_its_facts_are_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = own_home(tmp_path, monkeypatch)
    server, _ = server_of(
        {"go": [Reply([task("write", "writer")]), said("Done.")], "write": [Reply([WRITE]), said("Written.")]}
    )
    order: list[str] = []

    class Told(io.StringIO):
        def write(self, text: str) -> int:
            record = json.loads(text)
            if record["type"] == "tool_finished" and record.get("agent"):
                order.append(f"told, saved: {record['saved']}")
            return len(text)

    async with server, with_agents(tmp_path, server, "openai-chat", environ, begins=False) as bench:
        flushed = bench.history.flushed

        async def noted() -> bool:
            saved = await flushed()
            order.append(f"saved with {sum('agent_worked' in line for line in lines_of(bench.file))} facts")
            return saved

        monkeypatch.setattr(bench.history, "flushed", noted)
        assert await run_prompt(bench.session, "go", "stream-json", Told(), None, bench.history) == 0
    at = order.index("told, saved: True")
    assert order[at - 1] == "saved with 2 facts"  # that it has begun, and the file


def lines_of(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []
