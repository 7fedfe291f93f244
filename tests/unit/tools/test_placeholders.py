"""Placeholders for protected names that are missing leave nothing behind, whatever happens."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from keen_tui.tools.sandbox.placeholders import Placeholders
from tests.support.waiting import wait_until


@pytest.fixture
def names(tmp_path: Path) -> list[Path]:
    return [tmp_path / ".git", tmp_path / ".keen"]


def test_what_is_missing_stands_while_it_is_needed(names: list[Path], tmp_path: Path) -> None:
    with Placeholders(names).standing() as standing:
        assert list(standing) == names
        assert all(name.is_dir() for name in names)
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_left_alone(names: list[Path], tmp_path: Path) -> None:
    names[0].mkdir()
    (names[0] / "config").write_text("x")
    names[1].mkdir()
    with Placeholders(names).standing() as standing:
        assert standing == ()
    assert (names[0] / "config").read_text() == "x"
    assert names[1].is_dir(), "an empty folder of the user's own is none of ours"


def test_they_stand_until_the_last_command_of_a_session_has_ended(names: list[Path], tmp_path: Path) -> None:
    placeholders = Placeholders(names)
    with placeholders.standing():
        with placeholders.standing() as standing:
            assert list(standing) == names
        assert all(name.is_dir() for name in names)
    assert list(tmp_path.iterdir()) == []


HELD = """
import sys
from pathlib import Path
from keen_tui.tools.sandbox.placeholders import Placeholders
from tests.support.waiting import wait_until
placeholders = Placeholders([Path(name) for name in sys.argv[1:]])
with placeholders.standing() as standing:
    print(len(standing), flush=True)
    sys.stdin.read()
"""


def other_session(names: list[Path]) -> subprocess.Popen[bytes]:
    """Another process in the same workspace, in the middle of a command."""
    process = subprocess.Popen(
        (sys.executable, "-c", HELD, *map(str, names)), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout
    assert process.stdout.readline() == b"2\n"
    return process


def test_another_session_takes_away_nothing_that_is_still_needed(names: list[Path], tmp_path: Path) -> None:
    with other_session(names) as other:
        with Placeholders(names).standing() as standing:
            assert list(standing) == names
        assert all(name.is_dir() for name in names), "the other session's command still runs"
        other.communicate()
    assert list(tmp_path.iterdir()) == []


def test_a_killed_session_leaves_nothing(names: list[Path], tmp_path: Path) -> None:
    with other_session(names) as other:
        other.kill()
        other.communicate()
    wait_until(lambda: not list(tmp_path.iterdir()), says=lambda: f"for {list(tmp_path.rglob('*'))} to go")


def test_what_a_session_left_that_nobody_could_clear_up_after_goes_with_the_next(
    names: list[Path], tmp_path: Path
) -> None:
    dead = subprocess.Popen(("true",))
    dead.wait()
    (names[1] / f"keen-sandbox-{dead.pid}").mkdir(parents=True)
    with Placeholders(names).standing() as standing:
        assert list(standing) == names
    assert list(tmp_path.iterdir()) == []
