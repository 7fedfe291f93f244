"""The program itself, in a terminal, against the scripted server."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Answer, Break, Call, Reply, Say
from keen_tui.demo.threaded import serving
from tests.support.terminal import TerminalProgram

CTRL_C, CTRL_D, CTRL_R, CTRL_X, ESC = "\x03", "\x04", "\x12", "\x18", "\x1b"
PROMPT_SIGN = "›"
CUT = Reply([Say("Half a sentence that")], broken=Break("close"))


@contextmanager
def program(
    folder: Path,
    script: Sequence[Answer],
    *flags: str,
    columns: int = 120,
    rows: int = 40,
    settings: str = "retry_attempts = 1",
    controls: bool = False,
    command: Sequence[str] = (),
    port: int = 0,
) -> Iterator[tuple[TerminalProgram, ModelServer]]:
    """The workspace in `folder`/work, in the terminal; or a `command` that prints and ends.
    `port` is that of the model's server, 0 for any free one."""
    work, home = folder / "work", folder / "home"
    work.mkdir(exist_ok=True)
    home.mkdir(exist_ok=True)
    (home / "settings.toml").write_text(settings)
    server = ModelServer(script, port=port)
    with serving(server):
        model = () if command else ("--base-url", server.base_url, "--model", "scripted")
        argv = (sys.executable, "-P", "-m", "keen_tui", *command, *model)
        environ = {"KEEN_HOME": str(home), "OPENAI_API_KEY": "", "OPENAI_BASE_URL": ""}
        with TerminalProgram(
            (*argv, *flags), columns=columns, rows=rows, folder=work, environ=environ, controls=controls
        ) as running:
            yield running, server


def test_keys_typed_before_the_composer_is_live_are_kept(tmp_path: Path) -> None:
    with program(tmp_path, [Reply([Say("Hello to you.")])]) as (terminal, server):
        terminal.wait_for("keen")
        assert PROMPT_SIGN not in terminal.screen(), "the skeleton has no prompt sign"
        terminal.type("hi there\r")
        terminal.wait_for_screen("Hello to you.")
        assert server.requests[0].body["messages"][-1]["content"] == "hi there"


def test_a_return_typed_before_the_program_runs_is_a_return(tmp_path: Path) -> None:
    with program(tmp_path, [Reply([Say("Hello to you.")])]) as (terminal, server):
        terminal.type("hi there\r")
        terminal.wait_for_screen("Hello to you.")
        assert server.requests[0].body["messages"][-1]["content"] == "hi there"


def test_a_paste_before_the_composer_is_live_is_one_text(tmp_path: Path) -> None:
    with program(tmp_path, []) as (terminal, server):
        terminal.wait_for("\x1b[?2004h")
        terminal.paste("one\rtwo\rthree")
        terminal.wait_for_screen("one", "two", "three", PROMPT_SIGN)
        assert not server.requests


def test_a_long_draft_is_wrapped_anew_when_the_panels_come_and_go(tmp_path: Path) -> None:
    words = [f"word{number}" for number in range(30)]
    with program(tmp_path, []) as (terminal, _):
        terminal.wait_for_screen(PROMPT_SIGN, "f1 help")
        terminal.type(" ".join(words))
        terminal.wait_for_screen(*words)

        def is_wrapped(*, wide: bool) -> bool:
            text = terminal.screen()
            first = text.partition(f"{PROMPT_SIGN} {words[0]}")[2].partition("\n")[0]
            return (words[12] in first) is wide and all(word in text for word in words)

        for wide in (True, False, True, False):
            terminal.type("\x02")
            terminal.wait_until(partial(is_wrapped, wide=wide), f"the draft in {wide=}")


def test_a_whole_turn_with_a_lost_connection_and_the_retry_key(tmp_path: Path) -> None:
    counter = Call("bash", {"command": "echo ran >> counter; exit 3"})
    edit = Call("edit_file", {"path": "a.py", "old_text": "one", "new_text": "two"})
    script = [
        Reply([Say("I look."), Call("read_file", {"path": "a.py"}), edit, counter]),
        CUT,
        Reply([Say("All is well.")]),
        Reply([Say("Next answer.")]),
    ]
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.py").write_text("one\n")
    with program(tmp_path, script) as (terminal, server):
        terminal.wait_for_screen(PROMPT_SIGN)
        terminal.type("change it\r")
        answer(terminal, "Change a.py?", "1")
        answer(terminal, "Run this command?", "1")
        terminal.wait_for_screen("pending: 3 calls", "3 calls, 2 changed files", "not carried over")
        terminal.type(CTRL_R)
        terminal.wait_for_screen("after 1 retry", "All is well.", "± a.py", "exit 3")
        assert (tmp_path / "work" / "counter").read_text() == "ran\n", "nothing ran twice"
        terminal.type("and now\r")
        terminal.wait_for_screen("Next answer.")
        messages = server.requests[-1].body["messages"][1:]
        assert [message["role"] for message in messages] == ["user", "assistant", "user"]
        assert "Tool memory:\n- Files changed: a.py, counter\n- Failed bash:" in messages[1]["content"]


def answer(terminal: TerminalProgram, question: str, key: str) -> None:
    """Wait until the question takes keys, and answer it: a key before that would begin a reason."""
    terminal.wait_for_screen(question, f"{PROMPT_SIGN} 1  yes")
    terminal.type(key + "\r")
    terminal.wait_until(lambda: question not in terminal.screen(), "the answer")


def test_esc_stops_a_running_command_and_keeps_what_was_done(tmp_path: Path) -> None:
    script = [Reply([Call("bash", {"command": "echo be''gun; sleep 600"})]), Reply([Say("Fine.")])]
    with program(tmp_path, script, "--mode", "auto") as (terminal, _):
        terminal.wait_for_screen(PROMPT_SIGN)
        terminal.type("go\r")
        terminal.wait_for_screen("begun")
        terminal.type(ESC)
        terminal.wait_for_screen("Turn incomplete", "you stopped it")
        terminal.type(CTRL_R)
        terminal.wait_for_screen("Fine.")


def test_a_paste_of_a_megabyte_goes_out_whole_and_is_never_sent_by_itself(tmp_path: Path) -> None:
    text = "a line\x1bxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx of the log\n" * 20_000
    with program(tmp_path, [Reply([Say("All of it.")])]) as (terminal, server):
        terminal.wait_for(PROMPT_SIGN)
        terminal.paste(text)
        terminal.type(" why?")
        terminal.wait_for_screen("[pasted: 20,000 lines] why?")
        assert not server.requests
        terminal.type("\r")
        terminal.wait_for_screen("All of it.")
        sent = server.requests[0].body["messages"][-1]["content"]
        assert sent.count("of the log\n") == 20_000
        assert sent.endswith(" why?")


def left_by(terminal: TerminalProgram, keys: str) -> int:
    """Press the keys until the program has ended: on a busy machine two may come too far apart for it."""
    for _ in range(18):
        for key in keys:
            terminal.type(key)
            terminal.settle(0.3)
        with suppress(TimeoutError):
            return terminal.wait_for_exit(seconds=10)
    raise TimeoutError("the program was not left")


@pytest.mark.parametrize("keys", [CTRL_D, CTRL_C + CTRL_C])
def test_leaving_gives_the_terminal_back(tmp_path: Path, keys: str) -> None:
    with program(tmp_path, []) as (terminal, _):
        terminal.wait_for_screen(PROMPT_SIGN)
        assert left_by(terminal, keys) == 0
        assert terminal.modes == terminal.modes_before
        last_modes = {mode: terminal.output.rfind(mode) for mode in (b"\x1b[?1049h", b"\x1b[?1049l")}
        assert last_modes[b"\x1b[?1049l"] > last_modes[b"\x1b[?1049h"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_ends_the_command_and_gives_the_terminal_back(
    tmp_path: Path, number: signal.Signals
) -> None:
    sleep = f"sleep 600.{number}{os.getpid()}"
    script = [Reply([Call("bash", {"command": f"true; {sleep}"})])]
    with program(tmp_path, script, "--mode", "auto") as (terminal, _):
        terminal.wait_for_screen(PROMPT_SIGN)
        terminal.type("go\r")
        terminal.wait_until(lambda: processes(sleep), "the command")
        os.kill(terminal.pid, number)
        terminal.wait_for_exit()
        assert terminal.modes == terminal.modes_before
        assert terminal.output.rfind(b"\x1b[?1049l") > terminal.output.rfind(b"\x1b[?1049h")
        assert not processes(sleep)


def processes(command: str) -> bool:
    """Whether any runs that command."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has just ended
            found.append(file.read_bytes().replace(b"\0", b" ").strip() == command.encode())
    return any(found)


def test_a_signal_before_the_screen_is_there_gives_the_terminal_back(tmp_path: Path) -> None:
    with program(tmp_path, []) as (terminal, _):
        terminal.wait_for("\x1b[?2004h")
        os.kill(terminal.pid, signal.SIGTERM)
        terminal.wait_for_exit()
        assert terminal.modes == terminal.modes_before
        assert terminal.output.rfind(b"\x1b[?1049l") > terminal.output.rfind(b"\x1b[?1049h")


def test_a_terminal_that_is_gone_ends_the_program_and_is_no_mistake_of_its_own(tmp_path: Path) -> None:
    with program(tmp_path, []) as (terminal, _):
        terminal.wait_for_screen(PROMPT_SIGN)
        terminal.hang_up()
        assert terminal.wait_for_exit() == 0
        assert not (tmp_path / "home" / "crash.txt").exists()


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--mode", "yolo"), b"--mode takes ask"),
        (("--resume", "20990101"), b"There is no session '20990101'."),
    ],
)
def test_a_wrong_flag_is_told_before_anything_is_painted(
    tmp_path: Path, flags: tuple[str, ...], words: bytes
) -> None:
    with program(tmp_path, [], *flags) as (terminal, _):
        assert terminal.wait_for_exit() == 2
        assert terminal.modes == terminal.modes_before
        assert words in terminal.output
        assert b"\x1b[?1049h" not in terminal.output


@pytest.mark.parametrize(
    ("settings", "flags", "words"),
    [
        ("mode = 'yolo'", (), "mode must be one of"),  # found while the skeleton stands
        ("", ("--continue",), "There is no session in this folder yet"),  # found while the entrance stands
    ],
)
def test_what_goes_wrong_at_the_start_gives_the_terminal_back_and_says_so(
    tmp_path: Path, settings: str, flags: tuple[str, ...], words: str
) -> None:
    with program(tmp_path, [], *flags, settings=settings) as (terminal, _):
        assert terminal.wait_for_exit() != 0
        assert terminal.modes == terminal.modes_before
        behind = terminal.output[terminal.output.rfind(b"\x1b[?1049l") :]
        assert b"\x1b[?1049h" in terminal.output
        assert words in behind.decode()


LAST_ROW = "ctrl+d quit"
"""Stands in the last row of the first start: once it is there, the whole screen is."""


def test_all_notices_of_the_start_stand_beside_each_other(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work/AGENTS.md").write_text("Use tabs.")
    (tmp_path / "work/CLAUDE.md").write_text("Something else.")
    with program(tmp_path, [], settings='theme = "nope"') as (terminal, _):
        terminal.wait_for("There is no theme")
        terminal.wait_for("CLAUDE.md is not read")
        assert "There is no theme" in terminal.screen()


def test_the_tour_leads_to_the_choice_of_a_model_in_the_folder_of_the_start(tmp_path: Path) -> None:
    (tmp_path / ".keen").mkdir()
    (tmp_path / ".keen/settings.toml").write_text('effort = "high"')
    environ = {"KEEN_HOME": str(tmp_path / "home"), "OPENAI_API_KEY": "", "OPENAI_BASE_URL": ""}
    command = (sys.executable, "-P", "-m", "keen_tui", "--demo")
    with TerminalProgram(command, folder=tmp_path, environ=environ) as terminal:
        terminal.wait_for_screen("The guided tour", "shopcart", "ctrl+p actions")
        terminal.type("/model\r")
        terminal.wait_for("Use them here?")
        terminal.type("n\r")
        terminal.wait_for_screen("Choose a model to begin", "Enter a key", LAST_ROW)
        terminal.type("\x1b")
        terminal.wait_for_screen("What should I do?", tmp_path.name, "ctrl+p actions")
        terminal.type("\x04")
        assert terminal.wait_for_exit() == 0


def test_after_the_tour_the_picker_opens_where_a_model_is_in_use(tmp_path: Path) -> None:
    environ = {"KEEN_HOME": str(tmp_path), "KEY": "x"}
    flags = ("--base-url", "http://127.0.0.1:9/v1", "--model", "mine", "--api-key-env", "KEY")
    command = (sys.executable, "-P", "-m", "keen_tui", "--demo", *flags)
    with TerminalProgram(command, folder=tmp_path, environ=environ) as terminal:
        terminal.wait_for_screen("The guided tour", "shopcart", "ctrl+p actions")
        terminal.type("/model\r")
        terminal.wait_for_screen("Choose a model", "now mine", "esc back")


def test_without_a_model_it_starts_and_says_what_to_do(tmp_path: Path) -> None:
    environ = {"KEEN_HOME": str(tmp_path), "OPENAI_API_KEY": "", "OPENAI_BASE_URL": ""}
    command = (sys.executable, "-P", "-m", "keen_tui")
    with TerminalProgram(command, folder=tmp_path, environ=environ) as terminal:
        terminal.wait_for_screen("Choose a model to begin", "Enter a key", "Guided demo", LAST_ROW)
        terminal.type("\x1b")
        terminal.wait_for_screen("What should I do?", "ctrl+p actions")
        terminal.type("hi there\r")
        terminal.wait_for_screen("Your message waits", "Guided demo", LAST_ROW)
        terminal.type("\x1b")
        terminal.wait_for_screen("hi there", "ctrl+p actions")
