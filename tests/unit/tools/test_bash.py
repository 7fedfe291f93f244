"""bash: returns when it should, keeps what it should, leaves nothing behind."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from keen_tui.domain.display import CommandDisplay
from keen_tui.domain.errors import ToolFailure
from keen_tui.domain.facts.command_failed import CommandFailed
from keen_tui.domain.messages import ToolResult
from keen_tui.system.child_environment import child_environment
from keen_tui.tools.orphans.strays import can_find_strays, end_strays
from keen_tui.tools.process.bounded_output import CapturedOutput
from tests.support.loop_clock import LoopClock
from tests.support.processes import called_with
from tests.support.tools import ToolBench
from tests.support.waiting import until

needs_proc = pytest.mark.skipif(not can_find_strays(), reason="there is no /proc")


def is_alive(pid: int) -> bool:
    """Whether the process runs (a zombie does not)."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout
    return bool(state.strip()) and not state.startswith("Z")


async def wait_until_gone(pid: int) -> None:
    await until(lambda: not is_alive(pid))


async def test_output_comes_in_order_and_success_has_no_fact(tmp_path: Path) -> None:
    result = await ToolBench(tmp_path)("bash", command="echo a; echo b >&2; echo c")
    assert result.text == "a\nb\nc"
    assert (result.exit_code, result.facts, result.is_error) == (0, (), False)


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        ("exit 3", 3, "[exit code 3]"),
        ("no-such-command-here", 127, "[exit code 127]"),
        ("kill -SEGV $$", 139, "SIGSEGV"),
        ("exit 255", 255, "[exit code 255]"),
        ("printf a; echo b >&2; false", 1, "ab\n[exit code 1]"),
    ],
)
async def test_a_failed_command_is_a_fact_and_no_error(
    tmp_path: Path, command: str, code: int, words: str
) -> None:
    result = await ToolBench(tmp_path)("bash", command=command)
    assert result.facts == (CommandFailed(command=command, exit_code=code),)
    assert words in result.text
    assert result.text.endswith(f"[exit code {code}]")
    assert result.summary == f"exit {code}"
    assert not result.is_error


async def timed_out(bench: ToolBench, command: str, begun: Callable[[], object]) -> ToolResult:
    """The result of a command whose time is up as soon as it has `begun`."""
    clock = LoopClock()
    running = asyncio.create_task(bench("bash", command=command, timeout=4))
    await until(begun)
    await clock.move(4)
    return await running


async def test_a_timeout_is_124_and_keeps_the_output_so_far(tmp_path: Path) -> None:
    command = "trap '' TERM; echo $$; sleep 600"
    bench = ToolBench(tmp_path)
    result = await timed_out(bench, command, lambda: bench.live)
    assert result.exit_code == 124
    pid = int(result.text.splitlines()[0])
    assert "timed out after 4 s" in result.text
    assert result.text.endswith("[exit code 124]")
    assert result.facts == (CommandFailed(command=command, exit_code=124),)
    await wait_until_gone(pid)


@needs_proc
async def test_of_a_bomb_of_forks_that_ignore_the_end_nothing_is_left(tmp_path: Path) -> None:
    """T03. It stops at 127 processes: a limit for them would not hold for root."""
    forks = "{ bomb $(($1 - 1)) & bomb $(($1 - 1)) & }"
    bomb = f"bomb() {{ trap '' TERM; echo here; [ $1 = 0 ] || {forks}; sleep 60611; }}; bomb 6"
    result = await timed_out(ToolBench(tmp_path), bomb, lambda: len(called_with("60611")) >= 127)
    assert result.exit_code == 124
    assert result.text.count("here") > 1
    await until(lambda: not called_with("60611"))


async def test_a_timeout_lets_the_command_clean_up_first(tmp_path: Path) -> None:
    bench = ToolBench(tmp_path)
    command = "trap 'echo bye; exit' TERM; echo ready; sleep 600 & wait"
    result = await timed_out(bench, command, lambda: bench.live)
    assert result.exit_code == 124
    assert result.text.startswith("ready\nbye\n")


@pytest.mark.parametrize("detached", ["sleep 600 &", "nohup sleep 600 >/dev/null 2>&1 &"])
async def test_what_is_left_in_the_background_is_ended_and_not_waited_for(
    tmp_path: Path, detached: str
) -> None:
    result = await ToolBench(tmp_path)("bash", command=f"{detached} echo $!")
    assert result.exit_code == 0
    assert "was still running" in result.text
    await wait_until_gone(int(result.text.splitlines()[0]))


@needs_proc
@pytest.mark.skipif(shutil.which("setsid") is None, reason="setsid is not installed")
async def test_a_process_with_a_session_of_its_own_is_ended_too(tmp_path: Path) -> None:
    command = "setsid sh -c 'echo $$ > pid; sleep 600' & while ! [ -s pid ]; do sleep 0.01; done"
    result = await ToolBench(tmp_path)("bash", command=command)
    assert "was still running" in result.text
    await wait_until_gone(int((tmp_path / "pid").read_text()))


@needs_proc
async def test_children_that_have_ended_are_not_called_running(tmp_path: Path) -> None:
    result = await ToolBench(tmp_path)("bash", command="true & true & wait; echo done")
    assert result.text == "done"


@needs_proc
def test_a_dead_process_that_nobody_buried_is_not_called_running() -> None:
    with subprocess.Popen(["true"], start_new_session=True) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert end_strays(process.pid, "0bad") == 0


async def test_a_cancelled_command_dies_with_its_children(tmp_path: Path) -> None:
    bench = ToolBench(tmp_path)
    running = asyncio.create_task(bench("bash", command="sleep 600 & echo $!; wait"))
    await until(lambda: bench.live)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await wait_until_gone(int(bench.live[0][0]))


async def test_each_command_starts_afresh_in_the_workspace(tmp_path: Path) -> None:
    bench = ToolBench(tmp_path)
    await bench("bash", command="cd /; export X=1; f() { :; }")
    result = await bench("bash", command="pwd; echo [$X]")
    assert result.text == f"{tmp_path.resolve()}\n[]"


async def test_nothing_ever_waits_for_input(tmp_path: Path) -> None:
    result = await ToolBench(tmp_path)("bash", command="cat; read x; echo $?; tty")
    assert result.text.splitlines()[:2] == ["1", "not a tty"]


async def test_keys_do_not_reach_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("SOME_TOKEN", "secret")
    result = await ToolBench(tmp_path)("bash", command="env")
    assert "secret" not in result.text
    assert "GIT_TERMINAL_PROMPT=0" in result.text


async def test_floods_are_kept_in_bounded_memory(tmp_path: Path) -> None:
    result = await ToolBench(tmp_path)("bash", command="echo first; yes | head -c 20000000; echo last")
    assert result.text.startswith("first\n")
    assert result.text.endswith("last")
    assert re.search(r"\[… 9,99\d,\d{3} lines, 19,98\d,\d{3} bytes left out …\]", result.text)
    assert len(result.text) < 20_000


async def test_escapes_and_progress_bars_are_cleaned(tmp_path: Path) -> None:
    command = r"printf '\033]52;c;eA==\007\033[31mred\033[0m\n10%%\r50%%\r100%%\nend\r\n'"
    assert (await ToolBench(tmp_path)("bash", command=command)).text == "red\n100%\nend"


async def test_a_workspace_that_is_gone_is_an_error_result(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    bench = ToolBench(folder)
    folder.rmdir()
    with pytest.raises(ToolFailure, match="can't start"):
        await bench("bash", command="true")


async def test_a_workspace_that_was_replaced_by_a_link_runs_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    bench = ToolBench(folder)
    folder.rmdir()
    folder.symlink_to(tmp_path)
    with pytest.raises(ToolFailure, match="points elsewhere"):
        await bench("bash", command="touch here")
    assert not (tmp_path / "here").exists()


def test_captured_output_counts_everything_and_keeps_both_ends() -> None:
    captured = CapturedOutput()
    for _ in range(1_000):
        captured.feed(b"x" * 99 + b"\n")
    captured.feed(b"tail")
    assert (captured.bytes, captured.lines) == (100_004, 1_001)
    assert captured.text().endswith("tail")
    head, note, tail = captured.text().partition("[… 841 lines, 84,100 bytes left out …]")
    assert note
    assert len(head + tail) == 100_004 - 84_100 + len("\n\n") - 1


def test_short_output_is_kept_whole() -> None:
    captured = CapturedOutput()
    for piece in (b"a" * 7_000, b"b" * 5_000, b"c" * 4_000):
        captured.feed(piece)
    assert captured.text() == "a" * 7_000 + "b" * 5_000 + "c" * 4_000


@pytest.mark.parametrize(
    ("output", "summary"),
    [
        ("===== 71 passed in 0.12s =====", "71 passed in 0.12s"),
        ("a line that is too long to stand in a summary", "1 line"),
        ("", "no output"),
    ],
)
async def test_the_summary_is_the_last_line_when_it_is_short(
    tmp_path: Path, output: str, summary: str
) -> None:
    assert (await ToolBench(tmp_path)("bash", command=f"printf '{output}'")).summary == summary


async def test_the_person_is_asked_about_the_whole_command(tmp_path: Path) -> None:
    command = "echo a\necho b"
    asked = await ToolBench(tmp_path).preview("bash", command=command)
    assert isinstance(asked, CommandDisplay)
    assert (asked.command, asked.output, asked.exit_code) == (command, "", None)
    assert [part.text for part in asked.parts] == ["echo a", "echo b"]


async def test_binary_output_is_shown_with_marks(tmp_path: Path) -> None:
    result = await ToolBench(tmp_path)("bash", command=r"printf 'a\000b\377c\302\205d'")
    assert result.text == "a^@b\ufffdc<U+0085>d"


async def test_the_last_of_the_output_is_shown_live(tmp_path: Path) -> None:
    bench = ToolBench(tmp_path)
    await bench("bash", command="seq 100000")
    text, lines, size = bench.live[-1]
    assert text.endswith("99999\n100000\n")
    assert (lines, size) == (100_000, 588_895)


def test_output_without_line_ends_is_cut_between_characters() -> None:
    captured = CapturedOutput()
    captured.feed(b"x" + "é".encode() * 50_000)
    assert "\ufffd" not in captured.text()
    assert "bytes left out" in captured.text()


def test_what_is_left_out_takes_no_memory() -> None:
    captured = CapturedOutput()
    tracemalloc.start()
    try:
        for _ in range(1_000):
            captured.feed(bytes(65_536))
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
    assert captured.bytes == 65_536_000


def test_the_environment_of_commands_names_no_relative_folders() -> None:
    assert child_environment({"PATH": "bin:/usr/bin:"})["PATH"] == "/usr/bin"
    environ = child_environment({"LD_LIBRARY_PATH": ":/opt/lib;", "PYTHONPATH": ".:/x", "NODE_PATH": ":"})
    assert (environ["LD_LIBRARY_PATH"], environ["PYTHONPATH"]) == ("/opt/lib", "/x")
    assert "NODE_PATH" not in environ
