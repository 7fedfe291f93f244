"""Where a case is played: a folder, a home, the program in a terminal, a scripted server in a thread."""

from __future__ import annotations

import json
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from keen_tui.demo.model_server import ModelServer
from keen_tui.domain.events import EndEvent, Event, TurnDone, TurnError, TurnIncomplete, TurnStarted
from keen_tui.storage.reading import SessionFile, read_session
from keen_tui.storage.records import Record
from tests.campaigns.faults.cases import Case
from tests.campaigns.faults.story import KEY, WRITTEN_BY_COMMANDS, Story
from tests.support.images import png
from tests.support.terminal import TerminalProgram
from tests.support.waiting import wait_until

CTRL_C, CTRL_D, CTRL_R, ESC, UP = "\x03", "\x04", "\x12", "\x1b", "\x1b[A"
PATIENCE = 40.0
"""Seconds until a state counts as one that never comes."""
QUESTIONS = ("Run this command?", "Change a.py?", "outside the sandbox?", "Read a.py?", "Run this call?")
_ENDS = (TurnDone, TurnIncomplete, TurnError)


class Stage:
    """One case's place. `outputs` is all that any of its programs has drawn, `asked` the questions that were
    answered with yes."""

    def __init__(self, folder: Path, case: Case, story: Story) -> None:
        self.case = case
        self.story = story
        self.work, self.home = folder / "work", folder / "home"
        self.work.mkdir(parents=True)
        self.home.mkdir()
        (self.work / "a.py").write_text("one\n")
        for name in WRITTEN_BY_COMMANDS:
            (self.work / name).touch()
        (self.work / "shot.png").write_bytes(png())
        self.server = ModelServer(story)
        self.outputs = b""
        self.asked: list[str] = []
        self.keeps_sessions = True

    def settings(self, **values: object) -> None:
        """Write the settings of the programs to come."""
        tables = {name: value for name, value in values.items() if isinstance(value, dict)}
        lines = [f"{name} = {json.dumps(value)}\n" for name, value in values.items() if name not in tables]
        for name, table in tables.items():
            lines += [f"[{name}]\n", *(f"{key} = {json.dumps(value)}\n" for key, value in table.items())]
        (self.home / "settings.toml").write_text("".join(lines))

    @contextmanager
    def program(self, *flags: str, limit: int = 0, home: str = "") -> Iterator[TerminalProgram]:
        """The program, until the block is left. No file of it grows beyond `limit` KB, 0: any size."""
        command = [
            sys.executable, "-P", "-m", "keen_tui", "--base-url", self.server.base_url, "--model", "scripted",
            "--api", self.case.api, "--api-key-env", "FAULT_KEY", *flags,
        ]  # fmt: skip
        if limit:
            command = ["bash", "-c", f"ulimit -f {limit}; exec {shlex.join(command)}"]
        environ = {"KEEN_HOME": home or str(self.home), "FAULT_KEY": KEY, "PYTHONDONTWRITEBYTECODE": "1"}
        with TerminalProgram(command, columns=100, rows=60, folder=self.work, environ=environ) as terminal:
            try:
                yield terminal
            finally:
                self.outputs += bytes(terminal.output)

    def session(self) -> SessionFile | None:
        """The newest session file as it is now, None when there is none yet."""
        files = sorted(self.home.glob("sessions/*/*.jsonl"), key=lambda path: path.stat().st_mtime)
        return read_session(files[-1]) if files else None

    def records(self) -> Sequence[Record]:
        session = self.session()
        return session.records if session else ()

    def events(self) -> list[Event]:
        """What is in the newest session file."""
        return [record.event for record in self.records()]

    def starts(self) -> int:
        """Turns that have begun."""
        return sum(isinstance(event, TurnStarted) for event in self.events())

    def ends(self) -> list[EndEvent]:
        """How turns ended so far."""
        return [event for event in self.events() if isinstance(event, _ENDS)]

    def wait_for_end(self, terminal: TerminalProgram, count: int) -> EndEvent:
        """The `count`-th end, whatever has to be allowed until then."""
        self.wait(terminal, lambda: len(self.ends()) >= count, f"end {count} of a turn")
        return self.ends()[count - 1]

    def wait(self, terminal: TerminalProgram, reached: Callable[[], bool], what: str) -> None:
        """Until it is reached; questions are answered with yes. Raises TimeoutError."""

        def read_and_allow() -> None:
            if question := asked_question(terminal):
                self.asked.append(question)
                terminal.type(f"{UP}\r")
                _read_while_it_asks(terminal)
            terminal.read(0.05)

        wait_until(
            reached,
            moment=read_and_allow,
            says=lambda: f"for {what}; on the screen:\n{terminal.screen()}",
            limit=PATIENCE,
        )

    def begin(self, terminal: TerminalProgram, text: str) -> None:
        """Send a message."""
        terminal.wait_for("›", seconds=PATIENCE)
        before = self.starts()
        terminal.type(f"{text}\r")
        if self.keeps_sessions:
            self.wait(terminal, lambda: self.starts() > before, f"the beginning of {text!r}")

    def retry(self, terminal: TerminalProgram) -> EndEvent:
        """Press the retry key until a turn begins, and wait for its end."""
        before, pressed = self.starts(), 0.0

        def begun() -> bool:
            nonlocal pressed
            if time.monotonic() - pressed > 3:
                terminal.type(CTRL_R)
                pressed = time.monotonic()
            return self.starts() > before

        self.wait(terminal, begun, "the retry")
        return self.wait_for_end(terminal, before + 1)

    def leave(self, terminal: TerminalProgram) -> None:
        """Leave by the key, whatever is still asked."""
        for _ in range(4):
            terminal.type(CTRL_D)
            try:
                terminal.wait_for_exit(seconds=8)
            except TimeoutError:
                continue
            return
        raise TimeoutError(f"the program could not be left; on the screen:\n{terminal.screen()}")

    def children(self) -> list[str]:
        """The commands of processes at work in the workspace, other than the program."""
        return list(self._processes().values())

    def pids(self) -> list[int]:
        """Their ids."""
        return list(self._processes())

    def _processes(self) -> dict[int, str]:
        found = {}
        for process in Path("/proc").glob("[0-9]*"):
            try:
                folder, command = (process / "cwd").readlink(), (process / "cmdline").read_bytes()
            except OSError:
                continue  # it has ended, or is none of ours
            if folder.is_relative_to(self.work) and b"keen_tui" not in command:
                found[int(process.name)] = command.replace(b"\0", b" ").decode(errors="replace")
        return found


def asks(terminal: TerminalProgram) -> bool:
    """Whether a question is open."""
    return bool(asked_question(terminal))


def asked_question(terminal: TerminalProgram) -> str:
    """The open question, "" for none. Its row has a bar and a sign, which no text can have."""
    rows = [row for row in terminal.screen().split("\n") if row.startswith("▌ ? ")]
    return next((question for question in QUESTIONS if any(question in row for row in rows)), "")


SIGNALS = {"kill": signal.SIGKILL, "term": signal.SIGTERM, "hup": signal.SIGHUP}


def _read_while_it_asks(terminal: TerminalProgram) -> None:
    """Until the question is gone: the key would be a letter in the composer if it came twice. One that was
    pressed too early for the question is pressed again later."""
    end = time.monotonic() + 3
    while asks(terminal) and time.monotonic() < end:
        terminal.read(0.05)
