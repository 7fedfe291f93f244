"""What a start finds of commands that a killed program left running, and what a person can say to that."""

from __future__ import annotations

import io
import os
import secrets
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from msgspec.structs import replace

from keen_tui.tools.orphans import strays
from keen_tui.tools.orphans.guard import guard
from keen_tui.tools.orphans.question import settle_left_running
from keen_tui.tools.orphans.records import CommandRecord, boot_id, left_running
from keen_tui.tools.orphans.strays import MARK, can_find_strays, end_strays, mark_for_good, start_of
from keen_tui.tools.process.process import run_command
from keen_tui.tools.sandbox.base import Launch
from tests.support.waiting import LIMIT

pytestmark = pytest.mark.skipif(not can_find_strays(), reason="needs /proc")


OUR_MARK = secrets.token_hex(8)
"""Of this test run alone: what has it is killed, and others may run beside."""


AGAIN = "Please answer y or n: "


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    """A command that was left running."""
    with subprocess.Popen(("sleep", "600"), env={MARK: OUR_MARK}, start_new_session=True) as process:
        yield process
        process.kill()


@pytest.fixture
def record(process: subprocess.Popen[bytes]) -> CommandRecord:
    """What its program, which has ended, wrote down."""
    with subprocess.Popen(("true",)) as program:
        program_start = start_of(program.pid)
    return CommandRecord(
        boot=boot_id(), program=program.pid, program_start=program_start or "1", leader=process.pid,
        start=start_of(process.pid), mark=OUR_MARK, command="make serve\nmore",
    )  # fmt: skip


def answered(folder: Path, answer: str) -> str:
    """What is asked when this is typed."""
    out = io.StringIO()
    settle_left_running(folder, io.StringIO(answer), out)
    return out.getvalue()


def test_a_yes_ends_it(tmp_path: Path, process: subprocess.Popen[bytes], record: CommandRecord) -> None:
    record.write(tmp_path)
    said = answered(tmp_path, "y\n")
    assert f"make serve   (process {process.pid})" in said
    assert "[y/N]" in said
    assert process.wait() == -9
    assert left_running(tmp_path) == ()


@pytest.mark.parametrize("answer", ["\n", "n\n", "yesterday\nno\n"])
def test_a_no_leaves_it_for_good(
    tmp_path: Path, process: subprocess.Popen[bytes], record: CommandRecord, answer: str
) -> None:
    record.write(tmp_path)
    assert "won't ask about it again" in answered(tmp_path, answer)
    assert process.poll() is None
    assert answered(tmp_path, "y\n") == ""


def test_where_nobody_answers_it_is_asked_again(tmp_path: Path, record: CommandRecord) -> None:
    record.write(tmp_path)
    assert answered(tmp_path, "") == answered(tmp_path, "perhaps\n").removesuffix(AGAIN) != ""


def test_only_what_is_left_of_this_boot_is_found(
    tmp_path: Path, process: subprocess.Popen[bytes], record: CommandRecord
) -> None:
    others = (
        replace(record, boot="another"),
        replace(record, leader=os.getpid(), start="1", mark="b"),
        replace(record, program=os.getpid(), program_start=start_of(os.getpid())),
    )
    for number, other in enumerate(others):
        other.write(tmp_path / str(number))
        assert left_running(tmp_path / str(number)) == ()
    assert process.poll() is None
    assert not list((tmp_path / "0").iterdir()), "it is forgotten"
    assert list((tmp_path / "2").iterdir()), "a program at work still needs it"


def test_a_group_that_is_another_one_by_now_is_left_alone(process: subprocess.Popen[bytes]) -> None:
    assert end_strays(process.pid, secrets.token_hex(8), start="1") == 0
    assert process.poll() is None


def test_a_group_without_its_leader_may_be_another_one(tmp_path: Path, record: CommandRecord) -> None:
    with subprocess.Popen(
        ("sh", "-c", "sleep 600 & echo $!"), stdout=subprocess.PIPE, start_new_session=True
    ) as shell:
        assert shell.stdout
        other = int(shell.stdout.readline())
        try:
            shell.wait()
            assert os.getpgid(other) == shell.pid
            replace(record, leader=shell.pid, start="1", mark="d").write(tmp_path)
            assert left_running(tmp_path) == ()
        finally:
            os.kill(other, signal.SIGKILL)


def test_what_gave_up_its_parent_and_its_environment_is_found() -> None:
    with subprocess.Popen(
        ("sh", "-c", 'read -r go; (exec env -i "$0" 600 &)', "sleep"), stdin=subprocess.PIPE
    ) as shell:
        mark_for_good(shell.pid, OUR_MARK)
        shell.communicate(b"\n")
    assert end_strays(0, OUR_MARK) == 1


def test_a_process_that_changes_its_number_while_it_is_looked_for_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a busy machine a look lasts longer than the steps of a process that replaces itself again and again,
    so several looks in a row may miss the last one of many."""
    looks, all_processes = iter(range(100)), strays._processes
    with ExitStack() as started:
        sleep = ("sleep", "600")
        marked = {**os.environ, MARK: OUR_MARK}
        one, other = (started.enter_context(subprocess.Popen(sleep, env=marked)) for _ in "12")

        def listed() -> list[int]:
            is_missed = next(looks) < 5
            return [pid for pid in all_processes() if not (is_missed and pid == other.pid)]

        monkeypatch.setattr(strays, "_processes", listed)
        try:
            assert end_strays(0, OUR_MARK) == 2
        finally:
            one.kill()
            other.kill()


@pytest.mark.parametrize("confine", [None, lambda: None], ids=["as it is", "confined"])
async def test_a_command_is_recorded_before_its_first_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, confine: Callable[[], None] | None
) -> None:
    write, early = CommandRecord.write, []

    def write_slowly(record: CommandRecord, folder: Path) -> Path:
        time.sleep(0.3)
        early.append(not (tmp_path / "begun").exists())
        return write(record, folder)

    monkeypatch.setattr(CommandRecord, "write", write_slowly)
    monkeypatch.setattr(guard(), "records", tmp_path / "running")
    launch = Launch(
        argv=("/bin/sh", "-c", "touch begun"), environ={"PATH": os.environ["PATH"]}, confine=confine
    )
    ended = await run_command(launch, folder=tmp_path, timeout=LIMIT, on_output=lambda _: None)
    assert (ended.code, early) == (0, [True])
    assert (tmp_path / "begun").exists()
    assert not list((tmp_path / "running").iterdir())


def test_damage_in_the_folder_stops_no_start(tmp_path: Path, record: CommandRecord) -> None:
    record.write(tmp_path)
    (tmp_path / "a.json").write_bytes(b"{")
    (tmp_path / "b.json").mkdir()
    replace(record, mark="no mark").write(tmp_path)
    (tmp_path / "c.json").symlink_to("/dev/zero")
    assert len(left_running(tmp_path)) == 1
    assert left_running(tmp_path / "nowhere") == ()
