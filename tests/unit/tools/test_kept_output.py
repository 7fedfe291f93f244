"""Long output in a file: whole or with both its ends, and never at the cost of a command."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest

from keen_tui.tools.files.reading import LARGEST_FILE
from keen_tui.tools.process.bounded_output import MOST_WHOLE, Tail
from keen_tui.tools.process.output_pipe import output_pipe
from keen_tui.tools.process.process import run_command
from keen_tui.tools.process.spooled_output import FIRST_BYTES, LAST_BYTES, KeptOutput
from keen_tui.tools.sandbox.base import Launch
from tests.support.disk import largest_file
from tests.support.waiting import LIMIT


def test_output_that_its_result_holds_makes_no_file(tmp_path: Path) -> None:
    kept = KeptOutput(lambda: tmp_path / "out.txt")
    kept.feed(b"x" * MOST_WHOLE)
    assert kept.close() == ""
    assert list(tmp_path.iterdir()) == []


def test_longer_output_is_whole_in_a_file_for_the_user_alone(tmp_path: Path) -> None:
    file = tmp_path / "outputs" / "session" / "out.txt"
    kept = KeptOutput(lambda: file)
    lines = [b"line %d\n" % number for number in range(10_000)]
    for line in lines:
        kept.feed(line)
    assert kept.close() == f"the whole output is in {file}"
    assert file.read_bytes() == b"".join(lines)
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_of_endless_output_both_ends_are_kept_and_read_file_can_read_them(tmp_path: Path) -> None:
    file = tmp_path / "out.txt"
    kept = KeptOutput(lambda: file)
    kept.feed(b"first")
    for _ in range(40):
        kept.feed(b"x" * 1_000_000)
    kept.feed(b"last")
    assert kept.close() == f"the first 12,000,000 and the last 4,000,000 bytes are in {file}"
    content = file.read_bytes()
    note = f"\n[… {40_000_009 - FIRST_BYTES - LAST_BYTES:,} bytes left out …]\n".encode()
    assert content[:5] == b"first"
    assert content[FIRST_BYTES : FIRST_BYTES + len(note)] == note
    assert content[-4:] == b"last"
    assert len(content) == FIRST_BYTES + len(note) + LAST_BYTES < LARGEST_FILE


def test_a_file_that_is_full_says_that_the_newest_output_is_not_in_it_yet(tmp_path: Path) -> None:
    file = tmp_path / "out.txt"
    kept = KeptOutput(lambda: file)
    kept.feed(b"x" * FIRST_BYTES)
    assert kept.so_far == f"the output so far is in {file}"
    kept.feed(b"last")
    assert kept.so_far == f"only the first 12,000,000 bytes are in {file} until it ends"
    assert file.stat().st_size == FIRST_BYTES


def test_output_that_cannot_be_kept_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    kept = KeptOutput(lambda: tmp_path / "file" / "out.txt")
    for _ in range(3):
        kept.feed(b"x" * MOST_WHOLE)
    assert kept.close() == ""


def test_a_disk_that_is_full_leaves_no_half_file(tmp_path: Path) -> None:
    kept = KeptOutput(lambda: tmp_path / "out.txt")
    kept.feed(b"x" * 20_000)
    assert (tmp_path / "out.txt").exists()
    with largest_file(30_000):
        kept.feed(b"x" * 20_000)
    kept.feed(b"x" * 20_000)
    assert kept.close() == ""
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for name in ("mine", "link"):
        kept = KeptOutput(lambda: tmp_path / name)  # noqa: B023 - used in this round
        kept.feed(b"x" * 20_000)
        assert kept.close() == ""
    assert (tmp_path / "mine").read_text() == "mine"
    assert not (tmp_path / "elsewhere").exists()


def test_the_end_of_output_byte_by_byte_takes_no_more_memory() -> None:
    tail = Tail(1_000_000)
    tracemalloc.start()
    try:
        for _ in range(200_000):
            tail.feed(b"x")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000


async def test_what_lies_in_the_pipe_is_read_although_something_holds_it() -> None:
    for _ in range(100):
        pieces: list[bytes] = []
        async with output_pipe(pieces.append) as (writable, ended):
            os.write(writable, b"x" * 50_000)
            os.write(writable, b"last")
            assert not ended.done()
        os.close(writable)
        assert b"".join(pieces) == b"x" * 50_000 + b"last"


async def test_a_failing_reader_neither_holds_the_command_up_nor_stays_silent(tmp_path: Path) -> None:
    def fail(_: bytes) -> None:
        raise ZeroDivisionError

    argv = ("/bin/sh", "-c", "head -c 3000000 /dev/zero; echo done >done")
    with pytest.raises(ZeroDivisionError):
        await run_command(Launch(argv=argv, environ={}), folder=tmp_path, timeout=LIMIT, on_output=fail)
    assert (tmp_path / "done").exists()
