"""What is done for one session costs nothing for the others that lie there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from keen_tui.storage.lookup.sessions import SessionStore
from tests.support.session_files import turn, write_session

OPENED = """
import sys
from pathlib import Path
from keen_tui.subcommands.sessions import asked_for
from keen_tui.storage.lookup.sessions import SessionStore
opened = []
sys.addaudithook(lambda event, facts: opened.append(str(facts[0])) if event == "open" else None)
store = SessionStore(Path(sys.argv[1]))
{deed}
print(*sorted(set(Path(each).name for each in opened if each.endswith((".jsonl", ".lock")))))
"""
"""Prints the files of sessions that were opened on the way."""


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    """Twelve sessions of one folder, each used a second after the one before, and locked once."""
    store = SessionStore(tmp_path / "home")
    (tmp_path / "shop").mkdir()
    for number in range(12):
        path = write_session(store.new_path(tmp_path / "shop").with_name(f"s{number:02}.jsonl"), turn(1))
        path.with_suffix(".lock").touch()
        os.utime(path, (1e9 + number, 1e9 + number))
    return store


@pytest.mark.parametrize(
    ("deed", "opened"),
    [
        ("asked_for({'go_on': True}, store)", ["s11.jsonl", "s11.lock"]),
        ("asked_for({'resume': 's03'}, store)", ["s03.jsonl"]),
        ("store.forget_old()", []),
        ("store.list(most=2)", ["s10.jsonl", "s10.lock", "s11.jsonl", "s11.lock"]),
    ],
)
def test_only_the_sessions_that_are_asked_for_are_opened(
    store: SessionStore, tmp_path: Path, deed: str, opened: list[str]
) -> None:
    script = OPENED.format(deed=deed)
    found = subprocess.run(
        [sys.executable, "-c", script, str(store.root)],
        cwd=tmp_path / "shop",
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.split() == opened
