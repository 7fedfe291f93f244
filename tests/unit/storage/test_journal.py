"""What is published is in the file, once and in order, whatever the disk does meanwhile."""

from __future__ import annotations

import asyncio
import errno
import os
import stat
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from keen_tui.domain.bus import EventBus
from keen_tui.domain.events import (
    Event,
    ModeChanged,
    Notice,
    QueueChanged,
    SessionOpened,
    SessionRestored,
    TextDelta,
    ToolOutput,
    ToolStarted,
)
from keen_tui.storage.journal import LAG, Journal, open_file
from keen_tui.storage.reading import read_session
from keen_tui.storage.records import Header
from tests.support.breaking_file import BreakingFile, Disk, Fault, full_after, in_pieces, refused
from tests.support.session_files import REPRESENTATIVE, done, started, turn, write_session
from tests.support.waiting import LIMIT, until


class Bench:
    """A journal at work, with what it said."""

    def __init__(self, path: Path, disk: Disk) -> None:
        self.path = path
        self.disk = disk
        self.bus = EventBus()
        self.said: list[str] = []
        self.journal = self.begin()

    def begin(self, **options: Any) -> Journal:
        header = Header(id=self.path.stem, workspace="/w", began=1.0)
        given: dict[str, Any] = {"opener": self.disk.open, "on_problem": self.said.append}
        return Journal(self.path, header, self.bus, **given | options)

    def publish(self, *events: Event) -> None:
        for event in events:
            self.bus.publish(event)

    async def save(self, *events: Event) -> bool:
        self.publish(*events)
        async with asyncio.timeout(LIMIT):
            return await self.journal.flushed()

    @property
    def saved(self) -> list[Event]:
        """What a program that starts now would read; asserts that no byte of the file is damaged."""
        if not self.path.exists():
            return []
        session = read_session(self.path)
        assert session.whole_bytes == self.path.stat().st_size
        numbers = [record.number for record in session.records]
        assert numbers == list(range(1, len(numbers) + 1))
        return [record.event for record in session.records]


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    bench = Bench(tmp_path / "sessions" / "w" / "s.jsonl", Disk())
    yield bench
    async with asyncio.timeout(LIMIT):
        await bench.journal.close()


async def test_what_was_published_is_saved_in_order(bench: Bench) -> None:
    assert await bench.save(*REPRESENTATIVE)
    assert bench.saved == list(REPRESENTATIVE)


async def test_no_file_is_made_before_something_happens(bench: Bench) -> None:
    assert await bench.save(SessionOpened(id="s"), ModeChanged(mode="auto"))
    assert await bench.journal.close()
    assert not bench.path.parent.exists()


async def test_a_new_file_appears_with_its_header_and_first_message(bench: Bench) -> None:
    seen: list[bool] = []

    class Watched(BreakingFile):
        async def write(self, data: bytes) -> int:
            seen.append(bench.path.exists())
            return await super().write(data)

        async def flush(self) -> None:
            seen.append(bench.path.exists())
            await super().flush()

    async def open_watched(path: Path) -> Watched:
        return Watched(await open_file(path), bench.disk)

    await bench.journal.close()
    bench.journal = bench.begin(opener=open_watched)
    assert await bench.save(started(1))
    assert seen == [False, False]
    assert bench.saved == [started(1)]
    assert [each.name for each in bench.path.parent.iterdir()] == [bench.path.name]


async def test_a_disk_that_refuses_the_beginning_leaves_no_session(bench: Bench) -> None:
    bench.disk.on_write = full_after(40)
    assert not await bench.save(*turn(1))
    assert not bench.path.exists()
    bench.disk.on_write = lambda file, data: None
    assert await bench.save(*turn(2))
    assert bench.saved == [*turn(1), *turn(2)]


async def test_what_passes_is_not_saved(bench: Bench) -> None:
    output = ToolOutput(turn=1, id="c", text="x", lines=1, bytes=1)
    queue = QueueChanged(texts=("later",))
    assert await bench.save(started(1), output, queue, SessionRestored(skipped=""), done(1))
    assert bench.saved == [started(1), done(1)]


async def test_the_file_is_for_the_user_alone(bench: Bench) -> None:
    await bench.save(started(1))
    assert stat.S_IMODE(bench.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(bench.path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(bench.path.parent.parent.stat().st_mode) == 0o700


async def test_deltas_wait_for_the_next_boundary_but_not_for_ever(bench: Bench) -> None:
    deltas = [TextDelta(turn=1, step=1, text=str(number)) for number in range(LAG + 1)]
    bench.publish(started(1))
    await bench.journal.flushed()
    bench.publish(*deltas[:3])
    await asyncio.sleep(0)
    assert bench.saved == [started(1)]
    bench.publish(*deltas[3:])
    assert await bench.journal.flushed()
    texts = [event.text for event in bench.saved if isinstance(event, TextDelta)]
    assert "".join(texts) == "".join(delta.text for delta in deltas)


async def test_a_journal_that_is_closed_has_saved_the_rest(bench: Bench) -> None:
    bench.publish(*turn(1), TextDelta(turn=2, step=1, text="half a"))
    assert await bench.journal.close()
    assert bench.saved[-1] == TextDelta(turn=2, step=1, text="half a")


async def test_it_goes_on_behind_what_is_whole(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.jsonl", turn(1))
    bench = Bench(path, Disk())
    await bench.journal.close()
    before = read_session(path)
    with path.open("ab") as file:
        file.write(b'{"n":9,"at":')
    bench.journal = bench.begin(size=before.whole_bytes, number=before.next_number)
    assert await bench.save(*turn(2))
    assert bench.saved == [*turn(1), *turn(2)]
    await bench.journal.close()


@pytest.mark.parametrize("size", [1, 7, 100])
async def test_writes_that_take_a_part_only_are_gone_on_with(bench: Bench, size: int) -> None:
    bench.disk.on_write = in_pieces(size)
    assert await bench.save(*REPRESENTATIVE)
    assert (bench.saved, bench.said) == (list(REPRESENTATIVE), [])


FAULTS: Sequence[tuple[str, Fault, str]] = [
    ("full", refused(errno.ENOSPC), "No space left on device"),
    ("full in the middle", full_after(40), "No space left on device"),
    ("quota", refused(errno.EDQUOT), "Disk quota exceeded"),
    ("broken", refused(errno.EIO), "Input/output error"),
    ("takes nothing", in_pieces(0), "nothing was written"),
]


@pytest.mark.parametrize(("fault", "reason"), [each[1:] for each in FAULTS], ids=[each[0] for each in FAULTS])
@pytest.mark.parametrize("before", [0, 1], ids=["at first", "later"])
async def test_what_a_disk_refuses_is_kept_and_saved_once_when_it_works(
    bench: Bench, fault: Fault, reason: str, before: int
) -> None:
    kept = turn(1) * before
    assert await bench.save(*kept)
    bench.disk.on_write = fault
    assert not await bench.save(*turn(2))
    assert not await bench.save(*turn(3))
    assert bench.said == [
        f"The session can't be saved ({reason}): {bench.path}. "
        "It continues in memory and is saved as soon as possible."
    ]
    bench.disk.on_write = lambda file, data: None
    assert await bench.save(*turn(4))
    assert bench.saved == [*kept, *turn(2), *turn(3), *turn(4)]
    assert bench.said[1:] == ["The session is saved again."]


@pytest.mark.parametrize("room", range(0, 2000, 37))
async def test_a_disk_that_fills_up_at_any_byte_loses_nothing(bench: Bench, room: int) -> None:
    bench.disk.on_write = full_after(room)
    for number in (1, 2, 3):
        await bench.save(*turn(number))
    # Half a line may stand at the end: it is no record, and the next attempt cuts it off.
    whole = [record.event for record in read_session(bench.path).records] if bench.path.exists() else []
    events = [event for number in (1, 2, 3) for event in turn(number)]
    assert whole == events[: len(whole)]
    bench.disk.on_write = lambda file, data: None
    assert await bench.save(done(9))
    assert bench.saved == [*events, done(9)]


async def test_what_was_written_but_not_flushed_counts_as_unsaved(bench: Bench) -> None:
    """After a failed fdatasync the system forgets what it could not write: all of it is written anew."""
    assert await bench.save(*turn(1))
    bench.disk.on_sync = errno.EIO
    assert not await bench.save(*turn(2))
    assert not await bench.save(*turn(3))
    assert "Input/output error" in bench.said[0]
    bench.disk.on_sync = 0
    assert await bench.save(*turn(4))
    assert bench.saved == [event for number in (1, 2, 3, 4) for event in turn(number)]


async def test_text_that_was_written_before_a_failed_flush_is_not_lost(bench: Bench) -> None:
    bench.publish(started(1))
    await bench.journal.flushed()
    deltas = [TextDelta(turn=1, step=1, text="x") for _ in range(LAG + 1)]
    bench.publish(*deltas)
    await until(lambda: bench.disk.writes >= 2)
    bench.disk.on_sync = errno.EIO
    assert not await bench.save(done(1))
    bench.disk.on_sync = 0
    assert await bench.journal.flushed()
    assert bench.saved == [started(1), TextDelta(turn=1, step=1, text="x" * len(deltas)), done(1)]


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.EMFILE, errno.ENOTDIR, errno.ELOOP])
async def test_a_file_that_can_not_be_opened_is_opened_later(bench: Bench, number: int) -> None:
    bench.disk.on_open = number
    assert not await bench.save(*turn(1))
    assert os.strerror(number) in bench.said[0]
    bench.disk.on_open = 0
    assert await bench.save(*turn(2))
    assert bench.saved == [*turn(1), *turn(2)]


async def test_it_is_tried_again_by_itself(bench: Bench) -> None:
    await bench.journal.close()
    bench.journal = bench.begin(retry_seconds=0.001)
    bench.disk.on_write = refused(errno.ENOSPC)
    assert not await bench.save(*turn(1))
    bench.disk.on_write = lambda file, data: None
    await until(lambda: bench.said[-1:] == ["The session is saved again."])
    assert bench.saved == turn(1)


async def test_what_happens_while_it_is_tried_again_is_saved_once(bench: Bench) -> None:
    await bench.journal.close()
    bench.journal = bench.begin(retry_seconds=0.0)
    expected: list[Event] = []
    for number in range(40):
        bench.disk.on_write = full_after(number * 50) if number % 3 else in_pieces(90)
        bench.publish(*turn(number))
        expected += turn(number)
        await asyncio.sleep(0.002)
    bench.disk.on_write = lambda file, data: None
    assert await bench.journal.flushed()
    assert bench.saved == expected


async def test_a_disk_that_never_works_ends_in_a_plain_no(bench: Bench) -> None:
    bench.disk.on_write = refused(errno.ENOSPC)
    assert not await bench.save(*turn(1))
    assert not await bench.journal.close()
    assert bench.saved == []


async def test_a_file_that_was_removed_under_way_is_told_and_begun_anew(bench: Bench) -> None:
    assert await bench.save(*turn(1))
    bench.path.unlink()
    assert await bench.save(*turn(2))
    assert "its file was removed" in bench.said[0]
    assert bench.said[1:] == ["The session is saved again."]
    assert await bench.save(*turn(3))
    session = read_session(bench.path)
    assert [record.event for record in session.records] == [*turn(2), *turn(3)]
    assert (session.header.workspace, session.damage) == ("/w", ())


@pytest.mark.parametrize("odd", ["link", "fifo", "folder"])
async def test_nothing_is_written_through_what_is_no_plain_file(
    bench: Bench, tmp_path: Path, odd: str
) -> None:
    bench.path.parent.mkdir(parents=True)
    target = tmp_path / "target"
    target.write_text("precious")
    match odd:
        case "link":
            bench.path.symlink_to(target)
        case "fifo":
            os.mkfifo(bench.path)
        case "folder":
            bench.path.mkdir()
    assert not await bench.save(*turn(1))
    assert len(bench.said) == 1
    assert target.read_text() == "precious"


def nested(depth: int) -> dict[str, object]:
    value: dict[str, object] = {}
    for _ in range(depth):
        value = {"x": value}
    return value


@pytest.mark.parametrize("depth", [100, 480, 900, 5000])
async def test_arguments_of_any_depth_do_not_keep_the_rest_from_being_saved(bench: Bench, depth: int) -> None:
    deep = ToolStarted(turn=1, id="c", name="bash", arguments=nested(depth), target="x")
    assert await bench.save(started(1), deep, done(1))
    first, call, last = bench.saved
    assert (first, last) == (started(1), done(1))
    assert isinstance(call, ToolStarted) and call.id == "c"


async def test_a_bug_in_the_opener_is_told_and_not_the_end(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "s.jsonl", Disk())
    await bench.journal.close()
    broken = [True]

    async def opener(path: Path) -> Any:
        if broken:
            raise RuntimeError("a bug")
        return await open_file(path)

    bench.journal = bench.begin(opener=opener)
    assert not await bench.save(*turn(1))
    assert "(a bug)" in bench.said[0]
    broken.clear()
    assert await bench.save(Notice(turn=0, text="x"))
    assert bench.saved == [*turn(1), Notice(turn=0, text="x")]
    await bench.journal.close()
