"""Which checkpoints of old sessions go, and which stay."""

from __future__ import annotations

import os
import time
from pathlib import Path

from keen_tui.storage.checkpoints.checkpoints import Checkpoints
from keen_tui.storage.lookup.sessions import SessionStore
from keen_tui.storage.retention import forget_old


def session(root: Path, name: str, *, days_ago: float, size: int = 10) -> Path:
    folder = root / name
    Checkpoints(folder).keep(1, Path("/x"), "x", None, name.encode().ljust(size), None)
    used = time.time() - days_ago * 86_400
    for file in (*folder.iterdir(), *(folder / "contents").iterdir()):
        os.utime(file, (used, used))
    return folder


def test_sessions_that_were_long_unused_go(tmp_path: Path) -> None:
    old, new = session(tmp_path, "old", days_ago=31), session(tmp_path, "new", days_ago=29)
    assert forget_old(tmp_path) == (old,)
    assert new.exists()
    assert not old.exists()


def test_the_oldest_go_where_all_hold_too_much(tmp_path: Path) -> None:
    folders = [session(tmp_path, f"s{age}", days_ago=age, size=1_000) for age in (3, 2, 1)]
    assert forget_old(tmp_path, limit_bytes=3_000) == (folders[0],)
    assert [folder.exists() for folder in folders] == [False, True, True]


def test_a_session_in_use_stays(tmp_path: Path) -> None:
    old = session(tmp_path, "old", days_ago=99)
    assert forget_old(tmp_path, in_use=lambda session_id: session_id == "old") == ()
    assert old.exists()


def test_only_what_would_go_is_asked_for_its_lock(tmp_path: Path) -> None:
    """A folder of thousands of sessions costs no lock for each."""
    for name in ("new", "newer", "old"):
        session(tmp_path, name, days_ago=31 if name == "old" else 1)
    asked: list[str] = []

    def in_use(session_id: str) -> bool:
        asked.append(session_id)
        return False

    forget_old(tmp_path, in_use=in_use)
    assert asked == ["old"]


def test_old_things_are_looked_for_once_a_day(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    old = session(store.checkpoints, "old", days_ago=31)
    store.forget_old()
    assert not old.exists()
    again = session(store.checkpoints, "again", days_ago=31)
    store.forget_old()
    assert again.exists()
    os.utime(tmp_path / "forgotten", (1.0, 1.0))
    store.forget_old()
    assert not again.exists()


def test_what_is_no_session_is_left_alone(tmp_path: Path) -> None:
    elsewhere = session(tmp_path / "elsewhere", "old", days_ago=99)
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(elsewhere)
    (root / "file").write_text("x")
    assert forget_old(root) == ()
    assert forget_old(tmp_path / "nowhere") == ()
    assert elsewhere.exists()


def test_a_folder_that_a_session_is_just_about_to_fill_stays(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    (new / "contents").mkdir(parents=True)
    (old / "contents").mkdir(parents=True)
    os.utime(old, (1.0, 1.0))
    assert forget_old(tmp_path) == (old,)
    assert new.exists()
