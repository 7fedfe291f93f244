"""A session file opens whatever is done to its bytes, and loses only what was touched (R5)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from keen_tui.domain.errors import StorageFailed
from keen_tui.domain.events import Event
from keen_tui.storage.lookup.sessions import SessionStore
from keen_tui.storage.reading import SessionFile, damage_file, mend, read_header, read_session, read_tail
from keen_tui.storage.records import event_line
from tests.fuzz.budget import examples
from tests.support.any_event import any_own_event
from tests.support.session_files import REPRESENTATIVE, done, lines, turn

journals: st.SearchStrategy[Sequence[Event]] = st.sampled_from(
    [REPRESENTATIVE, [*turn(1), *turn(2, reply="漢字"), *REPRESENTATIVE]]
) | st.lists(any_own_event, min_size=1, max_size=8)
_RUBBISH = st.binary(max_size=30) | st.sampled_from(
    [b"\0" * 64, b"\n", b"\n\n", b"{", b'{"n":', b"}", b"[]\n", b"null\n", b'{"n":3}\n', b"\xff\xfe", b'"']
)


@st.composite
def spoilt(draw: st.DrawFn, content: bytes) -> bytes:
    """The bytes with holes, rubbish, a piece doubled, a piece moved, an end cut off."""
    for _ in range(draw(st.integers(1, 4))):
        start, end = sorted((draw(st.integers(0, len(content))), draw(st.integers(0, len(content)))))
        match draw(st.sampled_from(["cut", "hole", "nuls", "rubbish", "doubled", "flipped"])):
            case "cut":
                content = content[:start]
            case "hole":
                content = content[:start] + content[end:]
            case "nuls":
                content = (
                    content[:start] + bytes(min(end - start, 40)) + content[start + min(end - start, 40) :]
                )
            case "rubbish":
                content = content[:start] + draw(_RUBBISH) + content[start:]
            case "doubled":
                content = content[:end] + content[start:]
            case _:
                content = (
                    content[:start]
                    + bytes(255 - byte for byte in content[start : start + 3])
                    + content[start + 3 :]
                )
    return content


@contextmanager
def session_file(content: bytes) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.jsonl"
        path.write_bytes(content)
        yield path


def opened(path: Path) -> SessionFile | None:
    """The session; None where the damage made a version of it that is newer than this program."""
    try:
        return read_session(path)
    except StorageFailed as failure:
        assert "newer" in str(failure)
        return None


def events_of(session: SessionFile) -> list[Event]:
    return [record.event for record in session.records]


@examples(150, 5_000)
@given(journals, st.data())
def test_a_spoilt_file_opens_says_so_is_mended_and_written_on(
    events: Sequence[Event], data: st.DataObject
) -> None:
    content = data.draw(spoilt(b"".join(lines(events))))
    with session_file(content) as path:
        session = opened(path)
        if session is None:
            assert path.read_bytes() == content, "it is left alone"
            return
        assert bool(session.skipped) == bool(session.damage)
        assert session.whole_bytes in (None, len(content))
        read_tail(path)
        assert read_header(path).id == session.header.id
        if session.whole_bytes is None:
            mend(session)
        for place in session.damage:
            assert place.rstrip(b"\n") in damage_file(path).read_bytes(), "what was skipped lies beside"
        again = read_session(path)
        assert (events_of(again), again.damage) == (events_of(session), ())
        added = done(9, "afterwards")
        with path.open("ab") as file:
            file.write(event_line(again.next_number, 1.0, added))
        assert events_of(read_session(path)) == [*events_of(session), added]


@examples(100, 3_000)
@given(st.lists(any_own_event, min_size=1, max_size=8), st.data())
def test_lines_that_were_not_touched_are_all_kept_in_order(events: list[Event], data: st.DataObject) -> None:
    header, *records = lines(events)
    place = data.draw(st.integers(0, len(records) - 1))
    rubbish = data.draw(_RUBBISH).replace(b"\n", b"") + b"\n"
    instead = data.draw(st.booleans())
    after = records[place + 1 :] if instead else records[place:]
    with session_file(b"".join([header, *records[:place], rubbish, *after])) as path:
        session = opened(path)
        assert session is not None
        kept = [*events[:place], *(events[place + 1 :] if instead else events[place:])]
        assert events_of(session) == kept
        assert bool(session.skipped) == bool(rubbish.strip(b"\n"))


@examples(40, 3_000)
@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_at_all_open_and_are_listed(content: bytes, has_header: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = SessionStore(Path(folder))
        path = store.new_path(Path(folder))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((lines([])[0] if has_header else b"") + content)
        os.utime(path)
        session = opened(path)
        assert session is None or isinstance(session.next_number, int)
        store.list()
