"""Programs of Keen's in one folder see each other, and a killed one isn't seen."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from keen_tui.storage.checkpoints.blobs import hash_of
from keen_tui.storage.checkpoints.change_log import LOG, turn_that_wrote
from keen_tui.storage.checkpoints.checkpoints import Checkpoints
from keen_tui.system.presence import Presence, present_in

_PROGRAM = """
import os, sys
from pathlib import Path
from keen_tui.storage.checkpoints.blobs import hash_of
from keen_tui.storage.checkpoints.change_log import LOG, turn_that_wrote
from keen_tui.storage.checkpoints.checkpoints import Checkpoints
from keen_tui.system.presence import Presence
here = Presence(os.environ, Path(sys.argv[1]))
here.enter()
here.note("s1", "Fix login")
print("here", flush=True)
sys.stdin.read()
here.leave()
print("gone", flush=True)
"""


@contextmanager
def another(environ: dict[str, str], folder: Path) -> Iterator[subprocess.Popen[str]]:
    words = (sys.executable, "-c", _PROGRAM, str(folder))
    with subprocess.Popen(
        words, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout and program.stdout.readline() == "here\n"
        yield program
        program.kill()


def place(tmp_path: Path) -> tuple[dict[str, str], Path]:
    folder = tmp_path / "work"
    folder.mkdir()
    return {**os.environ, "KEEN_HOME": str(tmp_path / "home")}, folder


def test_two_programs_in_a_folder_see_each_other(tmp_path: Path) -> None:
    environ, folder = place(tmp_path)
    here = Presence(environ, folder)
    here.enter()
    assert here.others() == ()
    with another(environ, folder) as program:
        (other,) = here.others()
        assert (other.pid, other.session, other.title) == (program.pid, "s1", "Fix login")
        assert {each.pid for each in present_in(environ, folder)} == {os.getpid(), program.pid}
        assert present_in(environ, tmp_path) == ()
        assert program.stdin and program.stdout
        program.stdin.close()
        assert program.stdout.readline() == "gone\n"
        assert here.others() == ()
    here.leave()
    assert present_in(environ, folder) == ()
    assert list(here.folder.iterdir()) == []


def test_a_killed_program_is_not_seen_and_leaves_nothing(tmp_path: Path) -> None:
    environ, folder = place(tmp_path)
    here = Presence(environ, folder)
    here.enter()
    with another(environ, folder) as program:
        program.kill()
        program.wait()
        assert len(list(here.folder.iterdir())) == 2
        assert here.others() == ()
        assert len(list(here.folder.iterdir())) == 1
    here.leave()


def test_a_folder_by_another_name_is_the_same(tmp_path: Path) -> None:
    environ, folder = place(tmp_path)
    (tmp_path / "link").symlink_to(folder)
    with another(environ, tmp_path / "link"):
        assert len(present_in(environ, folder)) == 1


def test_where_nothing_can_be_written_nobody_is_seen_and_nothing_fails(tmp_path: Path) -> None:
    environ, folder = place(tmp_path)
    (tmp_path / "home").write_text("no folder")
    here = Presence(environ, folder)
    here.enter()
    here.note("s", "title")
    assert here.others() == ()
    here.leave()


def test_a_change_is_put_down_to_a_session_only_if_the_file_holds_what_that_wrote(tmp_path: Path) -> None:
    kept = Checkpoints(tmp_path / "session")
    path, log = tmp_path / "a.txt", tmp_path / "session" / LOG
    kept.keep(2, path, "a.txt", b"one", b"two", 0o644)
    kept.keep(3, path, "a.txt", b"two", b"three", 0o644)
    kept.keep(4, tmp_path / "b.txt", "b.txt", b"", b"by hand", 0o644)
    assert turn_that_wrote(log, path, hash_of(b"three")) == 3
    assert turn_that_wrote(log, path, hash_of(b"two")) == 2
    assert turn_that_wrote(log, path, hash_of(b"by hand")) is None
    assert turn_that_wrote(log, path, hash_of(None)) is None
    assert turn_that_wrote(tmp_path / "missing" / LOG, path, hash_of(b"two")) is None
