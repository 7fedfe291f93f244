"""The saved sessions: named, listed, locked, copied and deleted, whatever lies in their folder."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from keen_tui.domain.errors import SessionInUse, StorageFailed
from keen_tui.domain.events import Event, MemoryEdited, RunBegun, SessionRenamed, TurnUndone
from keen_tui.domain.messages import TurnMemory
from keen_tui.domain.runs import RunLimits
from keen_tui.storage.lookup.sessions import SessionStore, pending_file
from keen_tui.storage.lookup.summaries import title_file
from keen_tui.storage.pending_file import read_pending
from keen_tui.storage.reading import damage_file, read_session
from keen_tui.storage.records import Header, header_line
from tests.support.session_files import (
    REPRESENTATIVE,
    compacted,
    done,
    incomplete,
    lines,
    started,
    turn,
    write_session,
)


class StoppedClock(SessionStore):
    """A store for which it is always the same second."""

    time = 1_700_000_000.0

    def now(self) -> float:
        return self.time


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return StoppedClock(tmp_path / "home")


def saved(store: SessionStore, workspace: Path, *events: Event) -> Path:
    """A session of the workspace with these events."""
    return write_session(store.new_path(workspace), events or turn(1))


def events_of(path: Path) -> list[Event]:
    return [record.event for record in read_session(path).records]


@contextmanager
def open_elsewhere(store: SessionStore, path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another program has the session open: a real process that holds its lock."""
    code = (
        "import sys; from pathlib import Path; from keen_tui.storage.lookup.sessions import SessionStore\n"
        "lock = SessionStore(Path(sys.argv[1])).lock(Path(sys.argv[2]))\n"
        "print('open', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(store.root), str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout and process.stdout.readline() == "open\n"
        try:
            yield process
        finally:
            process.kill()


def test_two_sessions_of_one_second_have_names_of_their_own(store: SessionStore, workspace: Path) -> None:
    paths = {store.new_path(workspace) for _ in range(200)}
    assert len(paths) == 200
    assert len({path.stem.rpartition("-")[0] for path in paths}) == 1


def test_a_clock_that_was_set_back_does_not_let_two_sessions_share_a_file(
    store: SessionStore, workspace: Path
) -> None:
    first = saved(store, workspace)
    StoppedClock.time -= 3600
    second = saved(store, workspace, *turn(1), *turn(2))
    StoppedClock.time += 3600
    assert first != second
    assert {row.id: row.turns for row in store.list(workspace)} == {first.stem: 1, second.stem: 2}


def test_a_list_says_what_a_session_is_about(store: SessionStore, workspace: Path) -> None:
    path = saved(store, workspace, *turn(1), *turn(2))
    (row,) = store.list(workspace)
    assert (row.id, row.title, row.turns, row.problem) == (path.stem, "please do 1", 2, "")
    assert (row.workspace, row.size, row.in_use) == (Path("/home/me/shop"), path.stat().st_size, False)
    store.set_title(path, "Ärger\ud800")
    assert store.list(workspace)[0].title.startswith("Ärger")


def test_a_first_message_of_any_length_gives_a_title(store: SessionStore, workspace: Path) -> None:
    saved(store, workspace, started(1, "ä" * 500_000 + "\nmore"), done(1))
    assert store.list(workspace)[0].title == "ä" * 120


@pytest.mark.parametrize("size", range(65_300, 65_600, 7))
def test_a_title_is_whole_wherever_the_first_message_is_cut(
    store: SessionStore, workspace: Path, size: int
) -> None:
    """A list looks into the first 64 kB only."""
    saved(store, workspace, SessionRenamed(title="x" * size), started(1, '"ä\u2028\ud800\x00\\" ok'), done(1))
    title = store.list(workspace)[0].title
    assert '"ä\u2028\ud800\x00\\" ok'.startswith(title)


def test_a_list_is_right_without_any_file_beside_the_sessions(store: SessionStore, workspace: Path) -> None:
    """There is no index that could be lost or stale: what is listed is what the session files say."""
    path = saved(store, workspace)
    store.append(path, SessionRenamed(title="Cart"))
    for beside in path.parent.glob("*.title"):
        beside.unlink()
    assert [row.id for row in store.list(workspace)] == [path.stem]
    path.unlink()
    assert store.list(workspace) == ()


def test_sessions_of_a_folder_that_was_moved_are_found_among_all(
    store: SessionStore, workspace: Path
) -> None:
    path = saved(store, workspace)
    moved = workspace.rename(workspace.with_name("moved"))
    assert store.list(moved) == ()
    assert [row.id for row in store.list()] == [path.stem]
    assert store.path_of(path.stem) == path


def test_a_folder_reached_through_a_link_has_the_sessions_of_its_target(
    store: SessionStore, workspace: Path, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(workspace)
    path = saved(store, workspace)
    assert [row.id for row in store.list(link)] == [path.stem]


def test_what_is_no_session_never_stops_a_list_or_a_search(store: SessionStore, workspace: Path) -> None:
    good = saved(store, workspace)
    folder = good.parent
    (folder / "link.jsonl").symlink_to(good)
    os.mkfifo(folder / "fifo.jsonl")
    (folder / "folder.jsonl").mkdir()
    (folder / "empty.jsonl").touch()
    (folder / "nuls.jsonl").write_bytes(b"\0" * 100)
    (folder / "deep.jsonl").write_bytes(b"[" * 100_000 + b"please do\n" + b'{"n":' * 9_000 + b"please do")
    (folder / "odd.jsonl").write_bytes(b'{"n":0,"type":"session","schema":1,"workspace":5,"began":"x"}\n')
    (folder / "newer.jsonl").write_bytes(header_line(Header(id="n", workspace="/", began=1.0, schema=9)))
    (folder / "copy of (1).jsonl").write_bytes(good.read_bytes())
    (folder / f"{good.stem}.jsonl.mending").write_bytes(good.read_bytes())
    (folder / "x.forking").write_bytes(good.read_bytes())
    (folder.parent / "loop").symlink_to(folder.parent)
    rows = {row.id: row for row in store.list(workspace)}
    problems = {id for id, row in rows.items() if row.problem}
    assert set(rows) == {good.stem, "link", "fifo", "folder", "newer"}, "without a record nothing is listed"
    assert problems == {"link", "fifo", "folder", "newer"}
    *_, hits = store.search("please do")
    assert [hit.session.id for hit in hits] == [good.stem]
    assert set(rows) == {row.id for row in store.list()}


NO_RECORD = {
    "empty": b"",
    "half a header": header_line(Header(id="x", workspace="/", began=1.0))[:30],
    "a header alone": header_line(Header(id="x", workspace="/", began=1.0)),
    "half a message": b"".join(lines(turn(1)[:1]))[:-4],
}


@pytest.mark.parametrize("content", NO_RECORD.values(), ids=NO_RECORD)
def test_a_newer_file_without_a_whole_record_is_passed_over(
    store: SessionStore, workspace: Path, content: bytes
) -> None:
    good = saved(store, workspace)
    store.new_path(workspace).write_bytes(content)
    newest = store.newest(workspace)
    assert newest is not None
    assert newest.id == good.stem
    assert [row.id for row in store.list(workspace)] == [good.stem]


def test_a_session_may_be_named_by_the_beginning_of_its_id(store: SessionStore, workspace: Path) -> None:
    for name in ("aa1", "aa2", "b1", "b12"):
        write_session(store.new_path(workspace).with_name(f"{name}.jsonl"), turn(1))
    assert store.path_of("aa1").stem == "aa1"
    assert store.path_of("b1").stem == "b1"
    with pytest.raises(StorageFailed, match="Several sessions begin with 'aa': aa1, aa2"):
        store.path_of("aa")
    for unknown in ("c", "", "../aa1", "aa1*", "?"):
        with pytest.raises(StorageFailed, match="There is no session"):
            store.path_of(unknown)


def test_a_session_that_another_program_has_open_is_refused(store: SessionStore, workspace: Path) -> None:
    path = saved(store, workspace)
    with open_elsewhere(store, path):
        assert store.list(workspace)[0].in_use
        for deed in (
            lambda: store.lock(path),
            lambda: store.delete(path),
            lambda: store.append(path, SessionRenamed(title="x")),
        ):
            with pytest.raises(SessionInUse, match="Fork it to continue in a copy"):
                deed()
        assert events_of(path) == turn(1)
        assert events_of(store.fork(path, workspace)) == [*turn(1), copied("please do 1 (copy)")]


def test_the_lock_of_a_program_that_was_killed_is_free(store: SessionStore, workspace: Path) -> None:
    path = saved(store, workspace)
    with open_elsewhere(store, path) as process:
        process.kill()
        process.wait()
        assert path.with_suffix(".lock").exists()
        assert not store.list(workspace)[0].in_use
        store.lock(path).release()


def test_a_process_id_in_a_lock_file_means_nothing(store: SessionStore, workspace: Path) -> None:
    """The kernel holds the lock, so a number that some other program has by now can't keep it."""
    path = saved(store, workspace)
    path.with_suffix(".lock").write_text(str(os.getpid()))
    store.lock(path).release()


def test_a_lock_that_can_not_be_made_is_a_failure_of_the_storage(tmp_path: Path) -> None:
    (tmp_path / "home").touch()
    store = SessionStore(tmp_path / "home")
    with pytest.raises(StorageFailed, match="can't be used: Not a directory"):
        store.lock(store.new_path(tmp_path))


def test_an_event_is_added_behind_a_torn_line(store: SessionStore, workspace: Path) -> None:
    path = saved(store, workspace)
    with path.open("ab") as file:
        file.write(b'{"n":99,"at":1.0,"ty')
    store.append(path, SessionRenamed(title="Cart"))
    session = read_session(path)
    assert [record.event for record in session.records] == [*turn(1), SessionRenamed(title="Cart")]
    assert session.damage == ()
    assert damage_file(path).read_bytes() == b'{"n":99,"at":1.0,"ty\n'


def test_an_event_added_to_an_empty_file_follows_a_header(store: SessionStore, workspace: Path) -> None:
    path = saved(store, workspace)
    path.write_bytes(b"")
    store.append(path, SessionRenamed(title="Cart"))
    assert path.read_bytes().startswith(b'{"n":0,')
    assert events_of(path) == [SessionRenamed(title="Cart")]


UNDONE = TurnUndone(turn=3, undone=3, files=("a.py",))
LONG = (
    *turn(1),
    *turn(2),
    incomplete(2),
    *turn(3),
    UNDONE,
    compacted(3),
    SessionRenamed(title="Cart"),
    *turn(4),
)


@pytest.mark.parametrize(
    ("up_to", "kept"),
    [(0, len(LONG)), (1, len(turn(1))), (2, 2 * len(turn(1)) + 1), (3, 3 * len(turn(1)) + 4), (4, len(LONG))],
)
def test_a_fork_has_what_happened_up_to_its_turn_and_no_more(
    store: SessionStore, workspace: Path, up_to: int, kept: int
) -> None:
    path = saved(store, workspace, *LONG)
    before = path.read_bytes()
    copy = store.fork(path, workspace, up_to)
    session = read_session(copy)
    *events, renamed = (record.event for record in session.records)
    assert events == list(LONG[:kept])
    title = "Cart (copy)" if kept > len(LONG) - len(turn(4)) - 1 else "please do 1 (copy)"
    assert renamed == copied(title)
    assert session.whole_bytes == copy.stat().st_size
    assert (session.header.id, session.header.forked_from) == (copy.stem, path.stem)
    assert path.read_bytes() == before
    row = next(row for row in store.list(workspace) if row.id == copy.stem)
    assert row.title == title


def copied(title: str) -> SessionRenamed:
    """What a copy has behind the events of the session."""
    return SessionRenamed(title=title)


def test_lists_tell_copies_apart(store: SessionStore, workspace: Path) -> None:
    path = saved(store, workspace)
    copies = [store.fork(path, workspace) for _ in range(2)]
    copies.append(store.fork(copies[0], workspace))
    titles = {row.id: row.title for row in store.list(workspace)}
    assert [titles[copy.stem] for copy in copies] == [
        "please do 1 (copy)", "please do 1 (copy 2)", "please do 1 (copy 3)",
    ]  # fmt: skip
    assert titles[path.stem] == "please do 1"


def edited(turn: int, note: str) -> MemoryEdited:
    return MemoryEdited(turn=turn, turn_memory=TurnMemory(notes=(note,)), carried_bytes=1)


def test_a_fork_has_later_edits_of_what_its_turns_are_remembered_for(
    store: SessionStore, workspace: Path
) -> None:
    later = (edited(1, "kept"), edited(2, "of a later turn"), compacted(2), edited(1, "of the summary"))
    path = saved(store, workspace, *turn(1), *turn(2), *later)
    assert events_of(store.fork(path, workspace, 1)) == [
        *turn(1),
        edited(1, "kept"),
        copied("please do 1 (copy)"),
    ]


def test_a_fork_inherits_no_run_that_began_later(store: SessionStore, workspace: Path) -> None:
    run = RunBegun(check="make test", limits=RunLimits())
    path = saved(store, workspace, *turn(1), run, edited(1, "kept"), *turn(2))
    title = copied("please do 1 (copy)")
    assert events_of(store.fork(path, workspace, 1)) == [*turn(1), edited(1, "kept"), title]
    path = saved(store, workspace, *turn(1), run)
    assert events_of(store.fork(path, workspace, 1))[:-1] == list(turn(1))
    assert events_of(store.fork(path, workspace))[:-1] == [*turn(1), run]
    path = saved(store, workspace, run, *turn(1), *turn(2))
    assert events_of(store.fork(path, workspace, 1))[:-1] == [run, *turn(1)]


def test_a_fork_of_a_turn_that_is_not_there_is_refused_and_leaves_nothing(
    store: SessionStore, workspace: Path
) -> None:
    path = saved(store, workspace)
    with pytest.raises(StorageFailed, match="has no turn 7: the last one is 1"):
        store.fork(path, workspace, 7)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_half_copies_that_a_kill_left_long_ago_are_removed(store: SessionStore, workspace: Path) -> None:
    path = saved(store, workspace)
    old, new, title = (path.with_name(name) for name in ("old.forking", "new.forking", "old.title"))
    for file in (old, new, title):
        file.write_bytes(b"x")
    os.utime(old, (1e9, 1e9))
    copy = store.fork(path, workspace)
    assert sorted(file.name for file in path.parent.iterdir()) == sorted(
        [path.name, copy.name, title_file(copy).name, "new.forking"]
    )


def test_a_fork_of_a_damaged_session_is_whole(store: SessionStore, workspace: Path) -> None:
    path = saved(store, workspace)
    pieces = lines(REPRESENTATIVE)
    broken = b'{"n":50,"at":1.0,"type":"turn_started"}\n'
    path.write_bytes(
        b"".join([*pieces[:4], pieces[4].rstrip(), pieces[5], b"rub\0bish\n", broken, *pieces[6:], b"{"])
    )
    before = path.read_bytes()
    copy = read_session(store.fork(path, workspace))
    assert [record.event for record in copy.records][:-1] == list(REPRESENTATIVE)
    assert copy.whole_bytes is not None
    assert path.read_bytes() == before


def test_deleting_leaves_nothing_and_may_be_interrupted_anywhere(
    store: SessionStore, workspace: Path
) -> None:
    """Files go one by one; whatever is left after an interruption can still be found and deleted."""
    other = saved(store, workspace)
    path = saved(store, workspace)
    beside = [
        pending_file(path),
        damage_file(path),
        path.with_suffix(".title"),
        path.with_suffix(".pending.new"),
    ]
    for gone in range(len(beside) + 1):
        for file in beside[gone:]:
            file.write_bytes(b"x")
        kept = store.checkpoints_of(path.stem)
        (kept / "contents").mkdir(parents=True)
        (kept / "changes.jsonl").touch()
        store.delete(store.path_of(path.stem))
        assert not kept.exists()
        assert [file.name for file in path.parent.iterdir()] == [other.name]
        write_session(path, turn(1))


def test_the_session_file_goes_last(store: SessionStore, workspace: Path) -> None:
    path = saved(store, workspace)
    (stuck := path.with_suffix(".title")).mkdir()
    with pytest.raises(StorageFailed, match="can't be deleted"):
        store.delete(path)
    assert events_of(path) == turn(1)
    stuck.rmdir()
    store.delete(path)
    assert not path.exists()


def test_a_session_put_back_by_hand_is_there_again(store: SessionStore, workspace: Path) -> None:
    path = saved(store, workspace)
    content = path.read_bytes()
    store.delete(path)
    path.write_bytes(content + content)
    assert events_of(store.path_of(path.stem)) == turn(1)


def test_everything_is_for_the_user_alone(store: SessionStore, workspace: Path) -> None:
    mask = os.umask(0)
    try:
        path = store.new_path(workspace)
        lock = store.lock(path)
        lock.release()
        write_session(path, turn(1))
        path.chmod(0o600)
        store.set_title(path, "x")
        store.append(path, SessionRenamed(title="x"))
        store.fork(path, workspace)
    finally:
        os.umask(mask)
    for place in (store.root, *store.root.rglob("*")):
        wanted = 0o700 if place.is_dir() else 0o600
        assert stat.S_IMODE(place.stat().st_mode) == wanted, place


def test_pending_state_that_is_not_whole_is_none(store: SessionStore, workspace: Path) -> None:
    path = pending_file(saved(store, workspace))
    for content in (b"", b"\0" * 50, b'{"schema": 2}', b'{"schema": 1, "identity": {}}', b"[" * 100_000):
        path.write_bytes(content)
        assert read_pending(path) is None
    path.unlink()
    assert read_pending(path) is None
    os.mkfifo(path)
    assert read_pending(path) is None


def test_a_turn_number_that_is_no_number_spoils_no_list(store: SessionStore, workspace: Path) -> None:
    path = saved(store, workspace)
    with path.open("ab") as file:
        file.write(b'{"n":9,"at":0,"type":"turn_started","turn":' + b"9" * 5_000 + b"}\n")
    assert [row.id for row in store.list(workspace)] == [path.stem]
