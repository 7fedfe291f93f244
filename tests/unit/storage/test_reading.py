"""A session file opens whatever became of it: what is whole stays in order, the rest is laid beside."""

from __future__ import annotations

import gc
import os
import stat
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keen_tui.domain.display import CommandDisplay
from keen_tui.domain.errors import StorageFailed
from keen_tui.domain.events import Event, TextDelta, ToolFinished, TurnDone, TurnStarted
from keen_tui.domain.messages import ToolResult
from keen_tui.storage import reading
from keen_tui.storage.reading import SessionFile, damage_file, mend, read_session
from keen_tui.storage.records import Header, event_line, header_line
from tests.support.any_event import any_own_event
from tests.support.session_files import REPRESENTATIVE, done, lines, started, write_session


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "s.jsonl"


def read(file: Path, content: bytes) -> SessionFile:
    file.unlink(missing_ok=True)  # a file that is written over costs a wait for the disk
    file.write_bytes(content)
    return read_session(file)


def events_of(session: SessionFile) -> list[Event]:
    return [record.event for record in session.records]


def mended(session: SessionFile) -> SessionFile:
    """The session as it is found after it was mended."""
    size = mend(session).whole_bytes
    again = read_session(session.path)
    assert again.whole_bytes == size == session.path.stat().st_size
    assert (again.damage, again.skipped) == ((), "")
    return again


@settings(max_examples=50)
@given(events=st.lists(any_own_event, max_size=8))
def test_what_was_written_is_read(file: Path, events: list[Event]) -> None:
    session = read(file, b"".join(lines(events)))
    assert events_of(session) == events
    assert [record.number for record in session.records] == list(range(1, len(events) + 1))
    assert (session.damage, session.whole_bytes) == ((), file.stat().st_size)
    assert session.next_number == len(events) + 1


def test_a_file_torn_at_any_byte_loses_only_the_record_that_was_torn(file: Path) -> None:
    pieces = lines(REPRESENTATIVE)
    content = b"".join(pieces)
    ends = [sum(map(len, pieces[: count + 1])) for count in range(len(pieces))]
    for size in range(len(content)):
        session = read(file, content[:size])
        # A record whose line end alone is missing is whole.
        whole = [end for end in ends if end - 1 <= size]
        assert events_of(session) == list(REPRESENTATIVE[: max(len(whole) - 1, 0)]), size
        assert b"".join(session.damage) == content[max(whole, default=0) : size]


def test_what_is_added_to_a_torn_file_stands_on_its_own_line(file: Path) -> None:
    content = b"".join(lines([started(1), done(1, "ä\ud800")]))
    added = event_line(99, 1.0, done(9, "afterwards"))
    for size in range(len(content)):
        session = read(file, content[:size])
        if session.whole_bytes is None:
            session = mended(session)
        with file.open("ab") as opened:
            opened.write(added)
        assert events_of(read_session(file)) == [*events_of(session), done(9, "afterwards")], size


@pytest.mark.parametrize("tail", [b"\0", b"\0" * 4096, b"\0\n", b"\n\n", b"{", b"\xff\xfe", b"null\n", b"[]"])
def test_a_spoilt_tail_is_cut_off_and_kept_beside(file: Path, tail: bytes) -> None:
    session = read(file, b"".join(lines(REPRESENTATIVE)) + tail)
    assert events_of(session) == list(REPRESENTATIVE)
    assert session.whole_bytes is None
    assert events_of(mended(session)) == list(REPRESENTATIVE)
    if tail.strip():
        assert "1 damaged place" in session.skipped
        assert damage_file(file).read_bytes() == tail.rstrip(b"\n") + b"\n"


@pytest.mark.parametrize("content", [b"", b"\0" * 1000, b"\n", b"\0\n\0\n", b"\xff" * 10])
def test_a_file_without_a_record_opens_empty(file: Path, content: bytes) -> None:
    session = read(file, content)
    assert (session.records, session.next_number, session.header.id) == ((), 0, "s")
    if session.whole_bytes is None:
        assert mended(session).whole_bytes == 0


def test_a_damaged_middle_line_leaves_the_others_as_they_were(file: Path) -> None:
    pieces = lines(REPRESENTATIVE)
    for place in range(1, len(pieces)):
        torn = pieces[place][: len(pieces[place]) // 2] + b"\n"
        session = read(file, b"".join([*pieces[:place], torn, *pieces[place + 1 :]]))
        rest = [*REPRESENTATIVE[: place - 1], *REPRESENTATIVE[place:]]
        assert events_of(session) == rest
        assert events_of(mended(session)) == rest
        assert damage_file(file).read_bytes() == torn
        damage_file(file).unlink()


def test_a_lost_header_costs_no_event(file: Path) -> None:
    session = read(file, b"".join(lines(REPRESENTATIVE)[1:]))
    assert events_of(session) == list(REPRESENTATIVE)
    assert session.header == Header(id="s", workspace="", began=0.0)
    assert session.next_number == len(REPRESENTATIVE) + 1


@pytest.mark.parametrize("between", [b"", b"\0\0\0"], ids=["nothing", "NULs"])
def test_records_on_one_line_are_all_read(file: Path, between: bytes) -> None:
    content = between.join(line.rstrip(b"\n") for line in lines(REPRESENTATIVE))
    session = read(file, content)
    assert events_of(session) == list(REPRESENTATIVE)
    assert events_of(mended(session)) == list(REPRESENTATIVE)
    assert file.read_bytes() == b"".join(lines(REPRESENTATIVE))


def test_a_record_written_into_the_middle_of_another_is_read_wherever_that_was(file: Path) -> None:
    pieces = lines(REPRESENTATIVE)
    outer, inner = pieces[-2], event_line(50, 1.0, started(3, "in the middle"))
    for place in range(1, len(outer) - 1):
        spoilt = outer[:place] + inner + outer[place:]
        session = read(file, b"".join([*pieces[:-2], spoilt, pieces[-1]]))
        expected = [*REPRESENTATIVE[:-2], started(3, "in the middle"), REPRESENTATIVE[-1]]
        assert events_of(session) == expected, place
    assert events_of(mended(session)) == expected


def test_arguments_that_look_like_a_record_are_none(file: Path) -> None:
    """However the line that holds them is damaged: a model must not write into a session's past."""
    forged = event_line(3, 1.0, done(1, "forged")).decode().rstrip()
    line = b'{"n":2,"at":1.0,"type":"tool_started","turn":1,"arguments":{"a":%s,"b":[%s,%s]}}\n' % (
        (forged.encode(),) * 3
    )
    for place in range(len(line)):
        for spoilt in (line[:place] + b"\xff" + line[place + 1 :], b"\0" + line[place:]):
            found = events_of(read(file, lines([])[0] + spoilt))
            if found:
                # It can't be told only where everything around it is gone.
                assert spoilt.lstrip(b"\0").startswith(b'{"n":3') or b"}\xff" in spoilt


def test_a_record_that_is_there_twice_counts_once(file: Path) -> None:
    pieces = lines(REPRESENTATIVE)
    for content in (b"".join(pieces) * 2, b"".join(piece * 2 for piece in pieces)):
        session = read(file, content)
        assert events_of(session) == list(REPRESENTATIVE)
        assert session.next_number == len(REPRESENTATIVE) + 1


def test_two_records_with_one_number_are_both_kept_in_the_order_of_the_file(file: Path) -> None:
    both = [event_line(1, 1.0, started(1, "a")), event_line(1, 1.0, started(1, "b"))]
    assert events_of(read(file, lines([])[0] + b"".join(both))) == [started(1, "a"), started(1, "b")]


def test_a_clock_that_was_set_back_changes_no_order(file: Path) -> None:
    content = [event_line(number, 1e9 - number, started(number)) for number in (1, 2, 3)]
    session = read(file, lines([])[0] + b"".join(content))
    assert events_of(session) == [started(1), started(2), started(3)]


@pytest.mark.parametrize("place", ["first line", "middle"])
def test_a_file_of_a_newer_version_is_refused_and_left_as_it_is(file: Path, place: str) -> None:
    newer = header_line(Header(id="s", workspace="/w", began=1.0, schema=2))
    content = newer + b"".join(lines(REPRESENTATIVE)[1:]) + b"torn"
    if place == "middle":
        content = b"\xff\n" + content
    with pytest.raises(StorageFailed, match=r"newer Keen TUI.*format 2"):
        read(file, content)
    assert file.read_bytes() == content


def test_events_not_known_here_are_passed_over_and_stay_in_the_file(file: Path) -> None:
    pieces = lines(REPRESENTATIVE)
    unknown = b'{"n":70,"at":1.0,"type":"telepathy","thought":"\xc3\xa4"}\n'
    session = read(file, b"".join([*pieces[:3], unknown, *pieces[3:], b"torn"]))
    assert events_of(session) == list(REPRESENTATIVE)
    assert session.next_number == 71
    assert events_of(mended(session)) == list(REPRESENTATIVE)
    assert unknown in file.read_bytes()


@pytest.mark.parametrize(
    "line",
    [
        b'{"n":1,"type":"turn_started","turn":"x"}\n',
        b'{"n":-1,"type":"turn_started"}\n',
        b'{"n":true,"type":"turn_started"}\n',
        b'{"n":1,"type":5}\n',
        b'{"n":1' + b"0" * 5000 + b',"type":"x"}\n',
        b'{"n":1,"at":1,"type":"notice","turn":0,"text":' + b"[" * 100_000 + b"\n",
        b'{"n":1,"at":1,"type":"notice","turn":0,"text":' + b"[" * 2000 + b"]" * 2000 + b"}\n",
        b'{"n":' * 2000 + b"\n",
    ],
    ids=["field", "negative", "true", "type", "digits", "deep and torn", "deep", "many beginnings"],
)
def test_a_line_that_is_json_but_no_record_is_damage(file: Path, line: bytes) -> None:
    pieces = lines(REPRESENTATIVE)
    session = read(file, pieces[0] + line + b"".join(pieces[1:]))
    assert events_of(session) == list(REPRESENTATIVE)
    assert session.skipped
    assert events_of(mended(session)) == list(REPRESENTATIVE)
    assert damage_file(file).read_bytes() == line


def test_mending_that_was_interrupted_is_done_again(file: Path) -> None:
    pieces = lines(REPRESENTATIVE)
    content = b"".join([*pieces[:3], b"rubbish\n", *pieces[3:], b"more"])
    for size in (0, 1, len(b"rubbish\n"), len(b"rubbish\nmor")):
        damage_file(file).write_bytes(b"rubbish\nmore\n"[:size])
        file.with_name("s.jsonl.mending").write_bytes(content[: size * 20])
        assert events_of(mended(read(file, content))) == list(REPRESENTATIVE)
        kept = damage_file(file).read_bytes().split(b"\n")
        assert b"rubbish" in kept and b"more" in kept
    assert sorted(path.name for path in file.parent.iterdir()) == ["s.damaged", "s.jsonl"]


def test_what_can_not_be_mended_stays_as_it_was(file: Path) -> None:
    content = b"".join(lines(REPRESENTATIVE)) + b"torn"
    session = read(file, content)
    damage_file(file).mkdir()
    with pytest.raises(StorageFailed, match="can't be repaired"):
        mend(session)
    assert file.read_bytes() == content


def test_mended_and_damaged_files_are_for_the_user_alone(file: Path) -> None:
    mend(read(file, b"".join(lines(REPRESENTATIVE)) + b"torn"))
    for path in (file, damage_file(file)):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_only_a_plain_file_is_opened(file: Path, tmp_path: Path) -> None:
    target = write_session(tmp_path / "other" / "t.jsonl", REPRESENTATIVE)
    odd = {
        "link": file.with_name("link.jsonl"),
        "fifo": file.with_name("fifo.jsonl"),
        "folder": tmp_path / "d.jsonl",
    }
    odd["link"].symlink_to(target)
    os.mkfifo(odd["fifo"])
    odd["folder"].mkdir()
    for path in (*odd.values(), file):
        with pytest.raises(StorageFailed, match="is not opened as a session"):
            read_session(path)


def test_a_very_long_line_is_read(file: Path) -> None:
    long = started(1, "x" * 50_000_000)
    after: Sequence[Event] = [long, done(1)]
    session = read(file, b"".join(lines(after)))
    assert events_of(session) == after
    torn = read(file, b"".join(lines(after))[:40_000_000])
    assert events_of(torn) == [] and len(torn.damage) == 1


def test_a_text_that_a_turn_holds_twice_is_kept_once(tmp_path: Path) -> None:
    text = "line of output\n" * 3
    result = ToolResult(text=text, display=CommandDisplay(command="cat a", output=text, exit_code=0))
    given = {"turn": 1, "id": "c", "name": "bash", "arguments": {"command": "cat a"}, "target": "cat a"}
    call = ToolFinished(**given, result=result, seconds=0.1)  # type: ignore[arg-type]
    path = write_session(
        tmp_path / "s.jsonl",
        [started(1), call, TextDelta(turn=1, step=2, text=text), done(1, text), started(2, text)],
    )
    _, called, delta, end, other = (record.event for record in read_session(path).records)
    assert isinstance(called, ToolFinished) and isinstance(called.result.display, CommandDisplay)
    assert isinstance(delta, TextDelta) and isinstance(end, TurnDone) and isinstance(other, TurnStarted)
    assert called == call
    assert called.result.text is called.result.display.output is delta.text is end.text
    assert called.target is called.result.display.command is called.arguments["command"]
    assert other.text == text and other.text is not end.text


def test_a_long_session_is_not_looked_through_for_garbage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MANY_RECORDS", 1)
    path = write_session(tmp_path / "s.jsonl", REPRESENTATIVE)
    session = read_session(path)
    events = {id(record.event) for record in session.records}
    assert gc.isenabled()
    assert not any(id(each) in events for each in gc.get_objects())
