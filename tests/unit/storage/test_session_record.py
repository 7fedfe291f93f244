"""The record of a session file: what it lists and finds, whatever becomes of the file meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from keen_tui.domain.errors import StorageFailed
from keen_tui.domain.events import Event, MessageTakenBack, TurnAbandoned, TurnError, TurnUndone
from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.domain.messages import TurnMemory
from keen_tui.domain.recorded import RecordedCall, RecordedTurn
from keen_tui.memory.call_index import HeldRecord
from keen_tui.storage.records import Header, event_line, header_line
from keen_tui.storage.session_record import FileRecord
from tests.support.session_files import AT, call, done, incomplete, started

EVENTS: Sequence[Event] = (
    started(1, "first\nline"),
    *call(1, "a", FileChanged(path="a.py"), text="one\ntwo"),
    *call(1, "b", text="drei ß"),
    done(1, "All done."),
    started(2, "second"),
    *call(2, "c", text="three"),
    incomplete(2),
    started(2, None, attempt=2),
    *call(2, "d", text="four"),
)


def lines(events: Sequence[Event] = EVENTS) -> list[bytes]:
    header = header_line(Header(id="s", workspace="/w", began=AT))
    return [header, *(event_line(number, AT + number, event) for number, event in enumerate(events, 1))]


class Unsaved:
    """What the journal can't write at the moment."""

    def __init__(self) -> None:
        self.lines: tuple[bytes, ...] = ()

    async def __call__(self) -> Sequence[bytes]:
        return self.lines


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "s.jsonl"


async def texts(record: FileRecord | HeldRecord) -> list[list[str]]:
    """The results of each turn."""
    return [
        [event.result.text for event in await record.finished(turn.calls)] for turn in await record.turns()
    ]


async def test_calls_are_numbered_over_all_attempts_of_their_turn(file: Path) -> None:
    file.write_bytes(b"".join(lines()))
    first, second = await FileRecord(file, Unsaved()).turns()
    assert first == RecordedTurn(
        turn=1,
        title="first",
        message="first\nline",
        reply="All done.",
        state="done",
        calls=[
            RecordedCall(
                turn=1, number=1, name="edit_file", target="a.py", size=7, outcome="done", at=AT + 3,
                changed=("a.py",),
            ),
            RecordedCall(
                turn=1, number=2, name="edit_file", target="a.py", size=7, outcome="done", at=AT + 5
            ),
        ],
    )  # fmt: skip
    assert [(each.turn, each.number) for each in second.calls] == [(2, 1), (2, 2)]
    assert second.state == "running"


async def test_a_held_record_says_the_same_as_a_file(file: Path) -> None:
    file.write_bytes(b"".join(lines()))
    held = HeldRecord(EVENTS[:4])
    for event in EVENTS[4:]:
        held.note(event)
    assert (
        await texts(held)
        == await texts(FileRecord(file, Unsaved()))
        == [["one\ntwo", "drei ß"], ["three", "four"]]
    )
    names = [[(each.name, each.size, each.changed) for each in turn.calls] for turn in await held.turns()]
    of_file = await FileRecord(file, Unsaved()).turns()
    assert names == [[(each.name, each.size, each.changed) for each in turn.calls] for turn in of_file]


async def test_only_whole_lines_count_and_later_ones_are_added(file: Path) -> None:
    whole = lines()
    record = FileRecord(file, Unsaved())
    assert await record.turns() == ()
    written = b""
    for line in whole:
        file.write_bytes(written + line[: len(line) // 2])
        before = await record.turns()
        file.write_bytes(written := written + line)
        assert len(await record.turns()) >= len(before)
    assert await texts(record) == [["one\ntwo", "drei ß"], ["three", "four"]]


async def test_damage_and_repeated_lines_are_passed_over(file: Path) -> None:
    whole = lines()
    rubbish = b'{"n":5,"at":1.0,"type":"tool_finished","turn":"?"}\n\0\0\0\n' + whole[5][:40] + b"\n"
    file.write_bytes(b"".join((*whole[:7], rubbish, *whole[3:7], whole[7].rstrip(b"\n"), *whole[8:])))
    assert await texts(FileRecord(file, Unsaved())) == [["one\ntwo", "drei ß"], ["three", "four"]]


async def test_lines_that_cannot_be_written_count_and_count_once(file: Path) -> None:
    whole, unsaved = lines(), Unsaved()
    record = FileRecord(file, unsaved)
    unsaved.lines = tuple(whole[:5])
    assert await texts(record) == [["one\ntwo", "drei ß"][:1]]
    unsaved.lines = tuple(whole)
    assert await texts(record) == [["one\ntwo", "drei ß"], ["three", "four"]]
    file.write_bytes(b"".join(whole))
    unsaved.lines = ()
    assert await texts(record) == [["one\ntwo", "drei ß"], ["three", "four"]]


async def test_a_file_that_became_another_one_gives_no_wrong_result(file: Path) -> None:
    whole = lines()
    file.write_bytes(b"".join(whole))
    record = FileRecord(file, Unsaved())
    turns = await record.turns()
    file.write_bytes(b"".join((whole[0], *reversed(whole[1:]))))
    with pytest.raises(StorageFailed, match="has changed in the meantime"):
        await record.finished(turns[1].calls)
    file.write_bytes(b"".join(lines(EVENTS[:5])))
    assert await texts(record) == [["one\ntwo", "drei ß"]]
    file.unlink()
    with pytest.raises(StorageFailed):
        await record.finished((await record.turns())[0].calls)


async def test_lines_that_a_failing_disk_takes_back_are_still_found(file: Path) -> None:
    """Between the list of the turns and their results the journal cuts off what it could not save."""
    whole, unsaved = lines(), Unsaved()
    file.write_bytes(b"".join(whole))
    record = FileRecord(file, unsaved)
    turns = await record.turns()
    file.write_bytes(b"".join(whole[:7]))
    unsaved.lines = tuple(whole[7:])
    found = [[event.result.text for event in await record.finished(turn.calls)] for turn in turns]
    assert found == [["one\ntwo", "drei ß"], ["three", "four"]]


@pytest.mark.parametrize(
    ("events", "states"),
    [
        ((*EVENTS, done(2)), ["done", "done"]),
        ((*EVENTS, incomplete(2)), ["done", "incomplete"]),
        (
            (*EVENTS, incomplete(2), started(3, "third"), *call(3, "e"), done(3)),
            ["done", "done", "done"],
        ),
        (
            (
                *EVENTS,
                incomplete(2),
                TurnAbandoned(turn=2, turn_memory=TurnMemory(), carried_bytes=0, trace_bytes=0),
            ),
            ["done", "abandoned"],
        ),
        (
            (
                *EVENTS,
                done(2),
                started(3, "third"),
                TurnError(turn=3, attempt=1, reason="auth", detail="no", seconds=0.0),
            ),
            ["done", "done", "failed"],
        ),
        (
            (
                *EVENTS,
                done(2),
                started(3, "third"),
                TurnError(turn=3, attempt=1, reason="auth", detail="no", seconds=0.0),
                MessageTakenBack(turn=3, text="third"),
            ),
            ["done", "done"],
        ),
    ],
)
async def test_how_a_turn_stands(file: Path, events: Sequence[Event], states: list[str]) -> None:
    file.write_bytes(b"".join(lines(events)))
    assert [turn.state for turn in await FileRecord(file, Unsaved()).turns()] == states


async def test_an_undo_is_noted_with_the_turn_that_it_follows(file: Path) -> None:
    file.write_bytes(b"".join(lines((*EVENTS, done(2), TurnUndone(turn=2, undone=1, files=("a.py",))))))
    first, second = await FileRecord(file, Unsaved()).turns()
    assert (first.restored, second.restored) == ((), ("a.py",))
