"""The home and the tmp of commands: they last as long as the program; a killed one leaves none for long."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from keen_tui.tools.sandbox import scratch as scratch_module
from keen_tui.tools.sandbox.scratch import Scratch, keep_for, kept_folders, scratch_in
from tests.support.waiting import until

KILLED = """
import os, signal, sys
from pathlib import Path
from keen_tui.tools.sandbox.scratch import Scratch
scratch = Scratch(Path(sys.argv[1]))
with scratch.folders(lasting=True) as folders, scratch.folders(lasting=False) as once:
    print(folders.home)
    print(once.home, flush=True)
    if sys.argv[2:]:
        sys.stdin.read()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def home_of(scratch: Scratch) -> Path:
    with scratch.folders(lasting=True) as folders:
        return folders.home


def test_they_are_private_and_the_same_each_time(tmp_path: Path) -> None:
    scratch = scratch_in(tmp_path / "scratch")
    with scratch.folders(lasting=True) as first:
        (first.home / "cache").touch()
    with scratch_in(tmp_path / "scratch").folders(lasting=True) as second:
        assert second == first
        assert (second.home / "cache").exists()
    for folder in (first.home.parent, first.home, tmp_path / "scratch"):
        assert folder.stat().st_mode & 0o7777 == 0o700
    assert first.temporary.stat().st_mode & 0o7777 == 0o1777


def test_those_that_do_not_last_are_others_and_gone_at_once(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    home = home_of(scratch)
    with scratch.folders(lasting=False) as once:
        assert once.home.is_dir() and once.home != home
    assert not once.home.parent.exists()
    assert home.is_dir()


def test_they_are_removed_with_their_owner_and_no_link_is_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").touch()
    scratch = Scratch(tmp_path / "scratch")
    home = home_of(scratch)
    (home / "link").symlink_to(outside)
    (home / "modules").mkdir()
    (home / "modules" / "file").touch()
    (home / "modules").chmod(0o500)
    (home / "closed").mkdir(mode=0o000)
    del scratch
    assert not home.parent.exists()
    assert (outside / "file").exists()


async def test_what_a_killed_program_left_is_removed_by_a_later_one(tmp_path: Path) -> None:
    ended = subprocess.run((sys.executable, "-c", KILLED, str(tmp_path)), capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    left = [Path(line) for line in ended.stdout.splitlines()]
    assert len(left) == 2 and all(home.is_dir() for home in left)
    scratch = Scratch(tmp_path)
    home = home_of(scratch)
    await until(lambda: not any(path.exists() for path in left))
    await until(lambda: {path.name for path in tmp_path.iterdir()} == {home.parent.name, "lock"})


async def test_a_folder_that_is_kept_waits_for_its_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead = tmp_path / "1-left"
    for each in ("shadow-mine", "shadow-theirs", "shadow-new", "home/shadow-forged", "tmp"):
        (dead / each).mkdir(parents=True)
    keep_for(dead / "shadow-mine", tmp_path / "mine")
    keep_for(dead / "shadow-theirs", tmp_path / "theirs")
    keep_for(dead / "home/shadow-forged", tmp_path / "mine")  # as a command could
    scratch = Scratch(tmp_path)
    home_of(scratch)
    left = tmp_path / "dead-1-left"
    await until(lambda: left.is_dir() and len(list(left.iterdir())) == 3)
    assert list(kept_folders(tmp_path, tmp_path / "mine")) == [left / "shadow-mine"]
    assert {each.name for each in left.iterdir()} == {"lock", "shadow-mine", "shadow-theirs"}
    monkeypatch.setattr(scratch_module, "_KEPT_SECONDS", 0)
    later = Scratch(tmp_path)
    home_of(later)
    await until(lambda: not left.exists())


async def test_those_of_a_program_that_runs_are_left_alone(tmp_path: Path) -> None:
    argv = (sys.executable, "-c", KILLED, str(tmp_path), "waits")
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdin and other.stdout
        theirs = Path(other.stdout.readline().strip())
        dead = tmp_path / "1-left"
        dead.mkdir()
        scratch = Scratch(tmp_path)
        home = home_of(scratch)
        await until(lambda: len(list(tmp_path.iterdir())) == 3)
        assert theirs.is_dir() and home.is_dir()
        other.kill()


def test_what_commands_put_in_the_way_leads_to_new_ones(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path / "scratch")
    home = home_of(scratch)
    (tmp_path / "outside").mkdir()
    (home / ".cargo").symlink_to(tmp_path / "outside")
    with scratch.folders(lasting=True, needed=lambda each: [each.home / ".cargo" / "bin"]) as folders:
        assert folders.home != home
        assert (folders.home / ".cargo" / "bin").is_dir()
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_home_that_a_command_closed_is_opened_again(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    home = home_of(scratch)
    home.chmod(0)
    assert home_of(scratch) == home
    assert home.stat().st_mode & 0o777 == 0o700


def test_where_nothing_can_be_made_they_lie_among_temporary_files(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    scratch = Scratch(tmp_path / "file" / "scratch")
    home = home_of(scratch)
    assert home.is_dir() and not home.is_relative_to(tmp_path / "file")
    del scratch
    assert not os.path.lexists(home.parent)
