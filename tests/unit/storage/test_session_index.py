"""The index of sessions makes lists and searches fast. It is never believed against a file, and may go at any
time."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keen_tui.domain.events import Event
from keen_tui.storage.lookup.sessions import SessionStore
from tests.support.session_files import call, done, started, turn, write_session

Deed = Callable[[SessionStore], None]


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    """One that has an index however few sessions there are."""
    return SessionStore(tmp_path / "home", few=0)


def saved(store: SessionStore, *events: Event, name: str = "") -> Path:
    path = store.new_path(store.root)
    return write_session(path.with_name(f"{name}.jsonl") if name else path, events or turn(1))


def update(store: SessionStore) -> None:
    store.update_index(threading.Event())


def found(store: SessionStore, words: str) -> list[tuple[str, int, str]]:
    *_, hits = store.search(words)
    return [(hit.session.id, hit.turn, hit.words) for hit in hits]


def index_file(store: SessionStore) -> Path:
    (file,) = (store.root / "index").glob("*.sqlite")
    return file


def kept(store: SessionStore) -> bytes:
    """All bytes that the index holds anywhere."""
    files = (store.root / "index").rglob("*")
    return b"".join(file.read_bytes() for file in files if file.is_file())


TEXTS = (
    "Two\n\t words and\u3000more",
    "Ärger ÄRGER straße",
    "x" * 3000 + " End",
    '"c:\\new" \ud800 ok',
    "ΟΔΟΣ",
)
WORDS = (
    "two words", "Two words and more", "two  words AND", "ärger", "Ärger", "ÄRGER", "STRASSE", "straße", "ß",
    "xxx end", "c:\\new", '"', "\ud800", "e", "οδος", "nowhere", "turn_started", "more Ärger", "12", "Οδοσ",
)  # fmt: skip


def test_the_same_is_found_with_an_index_as_without(store: SessionStore) -> None:
    for number, text in enumerate(TEXTS):
        saved(
            store,
            started(1, text),
            *call(1, "c", text=f"{text} again {number}"),
            done(1, "ok"),
            name=f"s{number}",
        )
    plain = SessionStore(store.root)
    before = {words: found(plain, words) for words in WORDS}
    update(store)
    assert {words: found(store, words) for words in WORDS} == before
    assert sum(map(bool, before.values())) > len(WORDS) // 2


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(min_size=1).filter(str.strip), st.text(), st.text())
def test_what_was_written_is_found_in_an_indexed_session(
    store: SessionStore, words: str, before: str, after: str
) -> None:
    saved(store, started(1, before + words + after), name="s1")
    update(store)
    assert [hit[:2] for hit in found(store, words)] == [("s1", 1)]


def test_a_search_reads_no_file_of_an_indexed_session_without_the_words(
    store: SessionStore, tmp_path: Path
) -> None:
    for number in range(5):
        saved(store, started(1, f"needle{number} in a haystack"), done(1, "ok"), name=f"s{number}")
    update(store)
    script = (
        "import sys; from pathlib import Path\n"
        "from keen_tui.storage.lookup.sessions import SessionStore\n"
        "opened = []\n"
        "sys.addaudithook(lambda event, facts: opened.append(str(facts[0])) if event == 'open' else None)\n"
        "*_, hits = SessionStore(Path(sys.argv[1]), few=0).search('needle3')\n"
        "print(len(hits), *sorted({Path(each).name for each in opened if each.endswith('.jsonl')}))"
    )
    told = subprocess.run(
        [sys.executable, "-c", script, str(store.root)], capture_output=True, text=True, check=True
    )
    assert told.stdout.split() == ["1", "s3.jsonl"]


def test_a_list_reads_no_file_that_it_has_seen(store: SessionStore) -> None:
    for number in range(3):
        saved(store, name=f"s{number}")
    rows = store.list()
    assert [row.title for row in rows] == ["please do 1"] * 3
    database = sqlite3.connect(index_file(store))
    with database:
        database.execute(
            "UPDATE glances SET glance = CAST("
            "replace(CAST(glance AS TEXT), 'please do', 'as indexed') AS BLOB)"
        )
    database.close()
    assert [row.title for row in store.list()] == ["as indexed 1"] * 3
    saved(store, *turn(1), *turn(2), name="s1")
    store.set_title(store.path_of("s2"), "Cart")
    assert {row.id: (row.title, row.turns) for row in store.list()} == {
        "s0": ("as indexed 1", 1), "s1": ("please do 1", 2), "s2": ("Cart", 1),
    }  # fmt: skip


def test_the_files_win_against_the_index(store: SessionStore) -> None:
    changed, gone, moved = (saved(store, started(1, f"needle {name}"), done(1), name=name) for name in "abc")
    update(store)
    write_session(changed, [started(1, "a pin"), done(1)])
    gone.unlink()
    moved.rename(moved.with_name("d.jsonl"))
    saved(store, started(1, "needle e"), done(1), name="e")
    for _ in range(2):
        assert sorted(each[0] for each in found(store, "needle")) == ["d", "e"]
        assert [each[0] for each in found(store, "pin")] == ["a"]
        assert sorted(row.id for row in store.list()) == ["a", "d", "e"]
        update(store)


def test_lines_that_are_not_what_the_index_says_are_no_places(store: SessionStore) -> None:
    """As after a clock that was set back: another content of the same size at the same time."""
    path = saved(store, started(1, "needle"), done(1), name="s1")
    update(store)
    status = path.stat()
    content = path.read_bytes().replace(b"needle", b"thread")
    with path.open("r+b") as file:
        file.write(content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert found(store, "needle") == []


def test_what_is_deleted_is_gone_from_the_index(store: SessionStore) -> None:
    for name in ("secret", "other"):
        saved(store, started(1, f"the word {name}-zqx {name * 3000}"), done(1), name=name)
    store.list()
    update(store)
    assert b"secret-zqx" in kept(store)
    store.delete(store.path_of("secret"))
    assert b"secret" not in kept(store)
    assert b"other-zqx" in kept(store)


def test_what_was_removed_by_hand_is_gone_with_the_next_start(store: SessionStore) -> None:
    saved(store, name="other")
    path = saved(store, started(1, "secret-zqx"), done(1), name="s1")
    update(store)
    path.unlink()
    update(store)
    assert b"secret-zqx" not in kept(store)


def test_an_index_that_can_not_be_cleaned_goes_as_a_whole(store: SessionStore) -> None:
    saved(store, name="other")
    path = saved(store, started(1, "secret-zqx"), done(1), name="s1")
    update(store)
    content = bytearray(index_file(store).read_bytes())
    content[100:4000] = b"\xff" * 3900
    index_file(store).write_bytes(content)
    store.delete(path)
    assert b"secret-zqx" not in kept(store)


def a_torn(store: SessionStore) -> None:
    content = index_file(store).read_bytes()
    index_file(store).write_bytes(content[: len(content) // 2])


def rubbish(store: SessionStore) -> None:
    index_file(store).write_bytes(b"rubbish" * 5_000)


def an_empty_one(store: SessionStore) -> None:
    index_file(store).write_bytes(b"")


def damage_inside(store: SessionStore) -> None:
    content = bytearray(index_file(store).read_bytes())
    content[16_384 : 3 * 16_384] = os.urandom(2 * 16_384)
    index_file(store).write_bytes(content)


def other_columns(store: SessionStore) -> None:
    file = index_file(store)
    file.unlink()
    database = sqlite3.connect(file)
    database.execute("CREATE TABLE texts (name TEXT)")
    database.execute("CREATE TABLE glances (key TEXT, state TEXT, glance BLOB)")
    database.close()


def other_values(store: SessionStore) -> None:
    database = sqlite3.connect(index_file(store))
    with database:
        database.execute("UPDATE glances SET glance = x'ff00'")
        database.execute("UPDATE texts SET places = x'ff00'")
    database.close()


def a_folder(store: SessionStore) -> None:
    file = index_file(store)
    file.unlink()
    file.mkdir()


def a_link(store: SessionStore) -> None:
    file = index_file(store)
    elsewhere = store.root / "elsewhere"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)


def a_file_for_the_folder(store: SessionStore) -> None:
    shutil.rmtree(store.root / "index")
    (store.root / "index").write_bytes(b"")


@pytest.mark.parametrize(
    "deed",
    [
        a_torn, rubbish, an_empty_one, damage_inside, other_columns, other_values, a_folder, a_link,
        a_file_for_the_folder,
    ],
)  # fmt: skip
def test_a_damaged_index_spoils_nothing(store: SessionStore, deed: Deed) -> None:
    for number in range(60):
        saved(store, started(1, f"needle {number} " + "x" * 900), done(1), name=f"s{number:02}")
    update(store)
    rows, hits = store.list(), found(store, "needle")
    deed(store)
    for _ in range(2):
        assert store.list() == rows
        if deed is not other_values:
            assert found(store, "needle") == hits
        update(store)
    store.delete(store.path_of("s00"))
    assert len(store.list()) == 59


@pytest.mark.parametrize("deed", [a_torn, rubbish, an_empty_one, damage_inside, other_columns])
def test_a_damaged_index_is_built_anew(store: SessionStore, deed: Deed) -> None:
    for number in range(60):
        saved(store, started(1, f"needle {number} " + "x" * 900), done(1), name=f"s{number:02}")
    update(store)
    deed(store)
    for _ in range(2):  # damage may come to light only when the first is written
        found(store, "needle")
        store.list()
        update(store)
    assert b"needle 59" in kept(store)


def test_without_sqlite_everything_works(store: SessionStore) -> None:
    saved(store, started(1, "needle"), done(1), name="s1")
    saved(store, name="s2")
    update(store)
    script = (
        "import sys, threading; from pathlib import Path\n"
        "sys.modules['sqlite3'] = None\n"
        "from keen_tui.storage.lookup.sessions import SessionStore\n"
        "store = SessionStore(Path(sys.argv[1]), few=0)\n"
        "store.update_index(threading.Event())\n"
        "*_, hits = store.search('needle')\n"
        "print(len(store.list()), len(hits))\n"
        "store.delete(store.path_of('s1'))"
    )
    told = subprocess.run(
        [sys.executable, "-c", script, str(store.root)], capture_output=True, text=True, check=True
    )
    assert told.stdout.split() == ["2", "1"]
    assert b"needle" not in kept(store)


def test_another_program_that_writes_holds_nobody_up(store: SessionStore) -> None:
    saved(store, started(1, "needle"), done(1), name="s1")
    update(store)
    saved(store, name="s2")
    other = sqlite3.connect(index_file(store))
    other.execute("BEGIN EXCLUSIVE")
    assert len(store.list()) == 2
    assert len(found(store, "needle")) == 1
    other.rollback()
    other.close()


KILLED = """
import os, sys, threading
from pathlib import Path
from keen_tui.storage.lookup.sessions import SessionStore
left = int(sys.argv[2])
def seen(event, facts):
    global left
    if event in ("open", "sqlite3.connect", "os.remove"):
        left -= 1
        if left < 0:
            os.kill(os.getpid(), 9)
sys.addaudithook(seen)
SessionStore(Path(sys.argv[1]), few=0).update_index(threading.Event())
"""


@pytest.mark.parametrize("moment", range(0, 40, 4))
def test_a_kill_while_it_is_built_spoils_nothing(store: SessionStore, moment: int) -> None:
    for number in range(5):
        saved(store, started(1, f"needle {number}"), done(1), name=f"s{number}")
    subprocess.run([sys.executable, "-c", KILLED, str(store.root), str(moment)], check=False)
    assert len(found(store, "needle")) == 5
    update(store)
    assert len(found(store, "needle")) == 5
    assert b"needle 4" in kept(store)


def test_two_programs_may_build_it_at_once(store: SessionStore) -> None:
    for number in range(30):
        saved(store, started(1, f"needle {number}"), done(1), name=f"s{number:02}")
    script = KILLED.replace("os.kill(os.getpid(), 9)", "pass")
    programs = [
        subprocess.Popen([sys.executable, "-c", script, str(store.root), "0"], stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    update(store)
    for program in programs:
        assert program.communicate()[1] == b""
    update(store)
    assert len(found(store, "needle 2")) == 11
    assert b"needle 29" in kept(store)


def test_it_is_for_the_user_alone(store: SessionStore) -> None:
    saved(store)
    mask = os.umask(0)
    try:
        store.list()
        update(store)
    finally:
        os.umask(mask)
    assert stat.S_IMODE((store.root / "index").stat().st_mode) == 0o700
    assert {stat.S_IMODE(each.stat().st_mode) for each in (store.root / "index").iterdir()} == {0o600}


def test_an_index_of_another_version_of_the_program_goes(store: SessionStore) -> None:
    (store.root / "index").mkdir(parents=True)
    (store.root / "index" / "sessions-0.sqlite").write_bytes(b"needle")
    saved(store)
    update(store)
    assert [file.name for file in (store.root / "index").iterdir()] == ["sessions-1.sqlite"]


def test_few_sessions_have_no_index(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    saved(store, started(1, "needle"), done(1))
    update(store)
    assert len(store.list()) == len(found(store, "needle")) == 1
    assert not (tmp_path / "index").exists()


def test_building_stops_when_the_program_ends(store: SessionStore) -> None:
    saved(store, started(1, "go"), done(1, "needle"))
    stop = threading.Event()
    stop.set()
    store.update_index(stop)
    assert b"needle" not in kept(store)
    assert len(found(store, "needle")) == 1
