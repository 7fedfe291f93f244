"""The file of pending state: never ahead of the session file, newest state only, whole or not at all."""

from __future__ import annotations

import asyncio
from pathlib import Path

from keen_tui.domain.facts.command_failed import CommandFailed
from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.domain.models import Identity
from keen_tui.memory.pending import PendingState, PendingTrace
from keen_tui.storage.pending_file import PendingFile, read_pending
from tests.support.waiting import LIMIT

IDENTITY = Identity(api="openai-chat", base_url="http://localhost/v1", model="m")
PENDING = PendingState(
    traces=(PendingTrace(1, ({"role": "assistant", "content": "lone \ud800 and \x00", "n": [1, None]},)),),
    texts=("a",),
    raw_texts=("<b>a",),
    facts=(FileChanged(path="a.py"), CommandFailed(command="make", exit_code=2)),
    calls=2,
)


class SlowJournal:
    """A session file that is written when the test says so."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.written: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    async def was_asked(self) -> None:
        async with asyncio.timeout(LIMIT):
            await self.asked.wait()

    async def flushed(self) -> bool:
        self.asked.set()
        return await asyncio.shield(self.written)


def pending_file(path: Path, journal: SlowJournal, problems: list[str]) -> PendingFile:
    return PendingFile(
        path,
        journal_flushed=journal.flushed,
        on_problem=problems.append,
        on_over=lambda problem: problems.append(f"over: {problem}"),
    )


async def test_what_is_kept_is_read_as_it_was(tmp_path: Path) -> None:
    journal = SlowJournal()
    journal.written.set_result(True)
    file = pending_file(tmp_path / "new" / "s.pending", journal, [])
    file.keep(IDENTITY, PENDING)
    await file.kept()
    assert read_pending(tmp_path / "new" / "s.pending") == (IDENTITY, PENDING)


async def test_nothing_is_written_or_removed_before_the_session_file_is(tmp_path: Path) -> None:
    path, journal = tmp_path / "s.pending", SlowJournal()
    file = pending_file(path, journal, [])
    file.keep(IDENTITY, PENDING)
    await journal.was_asked()
    assert not path.exists()
    journal.written.set_result(True)
    await file.kept()
    journal.asked.clear()
    journal.written = asyncio.get_running_loop().create_future()
    file.keep(IDENTITY, None)
    await journal.was_asked()
    assert path.exists()
    journal.written.set_result(True)
    await file.kept()
    assert list(tmp_path.iterdir()) == []


async def test_while_the_session_file_cannot_be_written_what_is_kept_stays(tmp_path: Path) -> None:
    path, journal = tmp_path / "s.pending", SlowJournal()
    journal.written.set_result(False)
    file = pending_file(path, journal, [])
    file.keep(IDENTITY, PENDING)
    await file.kept()
    file.keep(IDENTITY, None)
    await file.kept()
    assert read_pending(path) == (IDENTITY, PENDING)


async def test_what_a_crash_left_half_written_is_taken_away_too(tmp_path: Path) -> None:
    journal = SlowJournal()
    journal.written.set_result(True)
    (tmp_path / "s.pending.new").write_text("half")
    file = pending_file(tmp_path / "s.pending", journal, [])
    file.keep(IDENTITY, None)
    await file.kept()
    assert list(tmp_path.iterdir()) == []


async def test_a_disk_that_refuses_is_told_of(tmp_path: Path) -> None:
    journal, problems = SlowJournal(), list[str]()
    journal.written.set_result(True)
    (tmp_path / "s.pending").mkdir()
    file = pending_file(tmp_path / "s.pending", journal, problems)
    file.keep(IDENTITY, PENDING)
    await file.kept()
    (problem,) = problems
    assert "in memory only" in problem
    assert read_pending(tmp_path / "s.pending") is None
    (tmp_path / "s.pending").rmdir()
    for _ in range(2):
        file.keep(IDENTITY, PENDING)
        await file.kept()
    assert problems == [problem, f"over: {problem}"]
