"""What must hold after a case, promise by promise, and what was found not to."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, field

from keen_tui.demo.wires import seen
from keen_tui.domain.events import Event, ToolFinished, TurnStarted
from tests.campaigns.faults.stage import Stage
from tests.campaigns.faults.story import COUNTED, KEY
from tests.support.terminal import TerminalProgram
from tests.support.wire import VALIDATORS

STREAMING_STOP = 0.2
"""Seconds in which a stop ends what streams."""
COMMAND_STOP = 2.0
"""Seconds in which a stop ends a command with all its processes, and in which a signal ends the program."""

_MODE = re.compile(rb"\x1b\[\?([0-9;]+)([hl])")
_ON_AT_FIRST = (b"25", b"7")
"""The cursor is shown, and long lines go on in the next row."""
_FOREIGN = (b"\x1b]52", b"\x9d52", b"c3RvbGVu\x07", b"]0;owned\x07", "\x9b2J".encode())
_WRITTEN_HERE = ("settings.toml", "hooks.json")


class Findings(Struct):
    """How often each promise was looked at, and in which words it was found broken."""

    looked: dict[str, int] = field(default_factory=dict)
    broken: dict[str, list[str]] = field(default_factory=dict)
    figures: dict[str, float] = field(default_factory=dict)

    def check(self, promise: str, holds: bool, words: str) -> None:
        """Note that a promise was looked at; `words` say what is wrong where it does not hold."""
        self.looked[promise] = self.looked.get(promise, 0) + 1
        if not holds:
            self.broken.setdefault(promise, []).append(words)

    def worst(self, figure: str, value: float) -> None:
        """Keep the greatest value of a figure."""
        self.figures[figure] = max(value, self.figures.get(figure, 0.0))


def check_outcomes(findings: Findings, events: Sequence[Event], ends: int) -> None:
    """R1: each turn that began has exactly one end, behind its beginning."""
    begun = sum(isinstance(event, TurnStarted) for event in events)
    findings.check("R1", begun == ends, f"{begun} turns began and {ends} ended")


def check_requests(findings: Findings, stage: Stage) -> None:
    """R2: every request was one that its API accepts."""
    for number, request in enumerate(stage.server.requests, 1):
        try:
            VALIDATORS[request.path](request.body)
        except Exception as problem:
            findings.check("R2", False, f"request {number}: {type(problem).__name__}: {problem}")
        else:
            findings.check("R2", True, "")


def check_images(findings: Findings, stage: Stage) -> None:
    """R1: whatever ended and went on meanwhile, the image is where the message is that names it."""
    for number, request in enumerate(stage.server.requests, 1):
        for message in seen(request):
            if message.role == "user" and "@shot.png" in message.text:
                findings.check("R1", len(message.images) == 1, f"request {number} lacks the image")


def check_side_effects(findings: Findings, stage: Stage, *, finished: bool) -> None:
    """R3: no command ran twice, and each ran once where the session was `finished`."""
    ran = (stage.work / "counter").read_text().split()
    findings.check("R3", len(set(ran)) == len(ran) and set(ran) <= set(COUNTED), f"commands ran: {ran}")
    if finished:
        findings.check("R3", sorted(ran) == sorted(COUNTED), f"of the two commands ran: {ran}")
        findings.check("R3", (stage.work / "a.py").read_text() == "two\n", "the edit was not made once")


def check_results(findings: Findings, events: Sequence[Event]) -> None:
    """R3: each call has one result in what was saved."""
    finished = [(event.turn, event.step, event.id) for event in events if isinstance(event, ToolFinished)]
    findings.check("R3", len(set(finished)) == len(finished), "a call has two results")


def check_shown(findings: Findings, screen: str, texts: Sequence[str]) -> None:
    """R4: what was shown and finished is there again."""
    for text in texts:
        findings.check("R4", text in screen, f"{text!r} is not shown again")


def check_undamaged(findings: Findings, stage: Stage) -> None:
    """R4: the session file can be read, and at most its last line is torn."""
    session = stage.session()
    findings.check("R4", session is not None, "there is no session file")
    if session:
        findings.check("R4", len(session.damage) <= 1, f"damage: {session.damage!r}")


def check_no_processes(findings: Findings, stage: Stage) -> None:
    """R6: nothing that a command began is left. What looks for a sandbox may be at work for a moment."""
    deadline = time.monotonic() + COMMAND_STOP
    while (left := stage.children()) and time.monotonic() < deadline:
        time.sleep(0.05)
    findings.check("R6", not left, f"left: {left}")


def check_output(findings: Findings, stage: Stage) -> None:
    """R8: nothing of the escape sequences in the texts was drawn."""
    for sequence in _FOREIGN:
        findings.check("R8", sequence not in stage.outputs, f"{sequence!r} reached the terminal")


def check_key(findings: Findings, stage: Stage) -> None:
    """R12: the key is in nothing that was drawn, saved, or seen by a command."""
    findings.check("R12", KEY.encode() not in stage.outputs, "the key reached the terminal")
    for folder in (stage.home, stage.work):
        for file in folder.rglob("*"):
            if file.is_file() and not file.is_symlink():
                holds = KEY.encode() in file.read_bytes()
                findings.check("R12", not holds, f"the key is in {_short(file, folder)}")
    bodies = b"".join(request.raw for request in stage.server.requests)
    findings.check("R12", KEY.encode() not in bodies, "the key is in the body of a request")


def check_terminal(findings: Findings, terminal: TerminalProgram) -> None:
    """R13: modes as before, every private mode that was set is reset, the cursor is shown."""
    findings.check("R13", terminal.modes == terminal.modes_before, "the modes of the line are other ones")
    last: dict[bytes, bytes] = {}
    for modes, switch in _MODE.findall(bytes(terminal.output)):
        last |= dict.fromkeys(modes.split(b";"), switch)
    left = [mode.decode() for mode, switch in last.items() if (switch == b"h") != (mode in _ON_AT_FIRST)]
    findings.check("R13", not left, f"private modes not given back: {left}")


def check_home(findings: Findings, stage: Stage) -> None:
    """R4: no half-written file of ours is taken for a session; R12: only the user may read them."""
    for file in stage.home.rglob("*"):
        if file.is_file() and file.name not in _WRITTEN_HERE:
            mode = file.stat().st_mode & 0o077
            findings.check("R12", not mode, f"others may read {_short(file, stage.home)}")


def _short(file: Path, folder: Path) -> str:
    return str(file.relative_to(folder))
