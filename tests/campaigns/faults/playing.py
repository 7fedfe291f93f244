"""Plays a case: the standard session with its fault, and on to the end of both turns."""

from __future__ import annotations

import os
import shutil
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path

from keen_tui.demo.script import Break, NoAnswer, RawStream
from keen_tui.demo.threaded import serving
from keen_tui.domain.events import EndEvent, TurnDone
from tests.campaigns.faults import promises
from tests.campaigns.faults.cases import Case, Family
from tests.campaigns.faults.outside import call_of
from tests.campaigns.faults.playing_outside import play_outside
from tests.campaigns.faults.promises import Findings
from tests.campaigns.faults.stage import CTRL_C, ESC, SIGNALS, Stage, asks
from tests.campaigns.faults.story import (
    ANSWER,
    BEFORE_A_BYTE,
    FIRST,
    SECOND,
    TEXTS,
    Story,
    broken_stream,
    events_of,
)
from tests.support.terminal import TerminalProgram

QUIET = 0.3
"""Seconds without drawing after which what was going on is on the screen."""


def play(case: Case, folder: Path) -> Findings:
    """Play a case in a folder, and check all that must hold. The folder is kept when something is broken."""
    shutil.rmtree(folder, ignore_errors=True)
    findings = Findings()
    stage = Stage(folder, case, _story(case))
    try:
        _PLAYS[case.family](stage, findings)
        _check_all(stage, findings)
    except Exception as problem:
        place = traceback.extract_tb(problem.__traceback__)[-1]
        findings.check("R1", False, f"{type(problem).__name__} in {place.name}: {problem}"[:4000])
    if findings.broken:
        (folder / "output").write_bytes(stage.outputs)
    else:
        shutil.rmtree(folder)
    return findings


def _story(case: Case) -> Story:
    match case.family:
        case "answer":
            return Story(case.step + 1, BEFORE_A_BYTE[case.fault])
        case "stream":
            assert isinstance(case.place, int)
            return Story(case.step + 1, broken_stream(case.api, case.step, case.place, case.fault))
        case "user" | "death":
            return _halting(case)
        case "server" | "hook" | "skill":
            return Story(also=call_of(case.family, case.fault))
    return Story()


def _halting(case: Case) -> Story:
    """A story that stands still where the stop or the death comes."""
    events = events_of(case.api, 0)
    body = b"".join(event.data for event in events)
    kinds = [event.kind for event in events]
    match case.place:
        case "connecting":
            return Story(1, NoAnswer("stall"))
        case "text":
            end = sum(len(event.data) for event in events[: kinds.index("delta") + 3])
            return Story(1, RawStream(body, broken=Break("stall", after_bytes=end)))
        case "arguments":
            end = sum(len(event.data) for event in events[: kinds.index("arguments") + 1])
            return Story(1, RawStream(body, broken=Break("stall", after_bytes=end)))
        case "command":
            return Story(long=True)
    return Story()


def _faulty_server(stage: Stage, findings: Findings) -> None:
    """The server fails once; whatever that did to the turn, the retry key leads to its end."""
    quick = stage.case.fault in ("stall", "silence")
    stage.settings(retry_attempts=2 if stage.case.step % 2 else 1, stall_seconds=1 if quick else 30)
    with serving(stage.server), stage.program("--mode", "auto") as terminal:
        stage.begin(terminal, FIRST)
        _go_on(stage, terminal, findings)
        _leave(stage, terminal, findings)


def _refused(stage: Stage, findings: Findings) -> None:
    """Nobody listens at first."""
    stage.settings(retry_attempts=1)
    with serving(stage.server):
        pass
    with stage.program("--mode", "auto") as terminal:
        stage.begin(terminal, FIRST)
        stage.wait_for_end(terminal, 1)
        with serving(stage.server):
            _go_on(stage, terminal, findings)
            _leave(stage, terminal, findings)


def _stopped(stage: Stage, findings: Findings) -> None:
    """The user stops, then retries."""
    stage.settings(retry_attempts=1)
    with serving(stage.server), stage.program("--mode", _mode(stage.case)) as terminal:
        stage.begin(terminal, FIRST)
        _wait_for_point(stage, terminal)
        if (stage.case.fault, stage.case.place) == ("esc", "approval"):
            terminal.type(ESC)  # the first one declines the call, the second one stops the turn
            terminal.settle(QUIET)
        pressed = time.time()
        terminal.type(ESC if stage.case.fault == "esc" else CTRL_C)
        # Nothing is answered meanwhile: a key right behind Esc would make it another key.
        terminal.wait_until(lambda: bool(stage.ends()), "the end of the stopped turn", seconds=60)
        ended = next(record.at for record in stage.records() if isinstance(record.event, EndEvent))
        in_command = stage.case.place == "command"
        bound = promises.COMMAND_STOP if in_command else promises.STREAMING_STOP
        took = ended - pressed
        findings.worst("stop of a command" if in_command else "stop of what streams", took)
        findings.check("R14", took <= bound, f"it took {took:.2f} s")
        promises.check_no_processes(findings, stage)
        if in_command:
            promises.check_side_effects(findings, stage, finished=False)
        _go_on(stage, terminal, findings)
        _leave(stage, terminal, findings)


def _died(stage: Stage, findings: Findings) -> None:
    """The program ends from outside; the next one goes on with its session."""
    stage.settings(retry_attempts=1)
    with serving(stage.server):
        with stage.program("--mode", _mode(stage.case)) as terminal:
            stage.begin(terminal, FIRST)
            _wait_for_point(stage, terminal)
            terminal.settle(QUIET)
            _strike(stage, terminal, findings)
        finished = TEXTS[: max(len(stage.server.requests) - 1, 0)]
        if stage.case.place == "idle":
            finished = TEXTS
        promises.check_undamaged(findings, stage)
        with stage.program("--mode", "auto", "--continue") as again:
            again.wait_for("›", seconds=60)
            again.settle(QUIET)
            again.wait_until(lambda: FIRST in again.screen(), "the user's message, opened again", seconds=20)
            again.settle(QUIET)
            promises.check_shown(findings, again.screen(), [FIRST, *finished])
            before = len(stage.ends())
            stage.begin(again, SECOND)
            end = stage.wait_for_end(again, before + 1)
            findings.check("R1", isinstance(end, TurnDone), f"the next turn ended as {type(end).__name__}")
            _leave(stage, again, findings)


def _strike(stage: Stage, terminal: TerminalProgram, findings: Findings) -> None:
    struck = time.monotonic()
    if stage.case.fault == "closed":
        terminal.hang_up()
    else:
        os.kill(terminal.pid, SIGNALS[stage.case.fault])
    terminal.wait_for_exit(seconds=20)
    took = time.monotonic() - struck
    if stage.case.fault == "kill":
        for child in stage.pids():
            os.kill(child, 9)  # nobody was left to end them
        return
    findings.worst("end by a signal", took)
    findings.check("R14", took <= promises.COMMAND_STOP, f"the program took {took:.2f} s to end")
    promises.check_no_processes(findings, stage)
    if stage.case.fault != "closed":
        promises.check_terminal(findings, terminal)


def _without_disk(stage: Stage, findings: Findings) -> None:
    """No room, or no home at all: everything goes on, and one line says what is not kept."""
    stage.keeps_sessions = False
    is_full = stage.case.fault.startswith("full")
    limit = int(stage.case.fault.split()[2]) if is_full else 0
    with (
        serving(stage.server),
        stage.program("--mode", "auto", limit=limit, home="" if is_full else "/proc/none") as terminal,
    ):
        stage.begin(terminal, FIRST)
        stage.wait(terminal, lambda: "turn 1 done" in terminal.screen(), "the end of the first turn")
        terminal.type(f"{SECOND}\r")
        terminal.wait_for_screen(ANSWER, "turn 2 done")
        terminal.settle(QUIET)
        is_told = b"saved" in terminal.output
        findings.check("R4", is_told or len(stage.ends()) == 2, "nothing says that it is not saved")
        findings.check("R1", True, "")
        _leave(stage, terminal, findings)
    if is_full:
        promises.check_undamaged(findings, stage)


def _go_on(stage: Stage, terminal: TerminalProgram, findings: Findings) -> None:
    """Retry until the first turn is done, then take the second, also retried."""
    _until_done(stage, terminal, findings)
    before = len(stage.ends())
    stage.begin(terminal, SECOND)
    stage.wait_for_end(terminal, before + 1)
    _until_done(stage, terminal, findings)


def _until_done(stage: Stage, terminal: TerminalProgram, findings: Findings) -> None:
    stage.wait(terminal, lambda: len(stage.ends()) >= max(stage.starts(), 1), "the end of the turn")
    tries = 0
    while not isinstance(stage.ends()[-1], TurnDone) and tries < 3:
        tries += 1
        stage.retry(terminal)
    end = stage.ends()[-1]
    findings.check("R2", isinstance(end, TurnDone), f"still {type(end).__name__} after {tries} retries")


def _leave(stage: Stage, terminal: TerminalProgram, findings: Findings) -> None:
    stage.leave(terminal)
    promises.check_terminal(findings, terminal)
    promises.check_no_processes(findings, stage)


def _mode(case: Case) -> str:
    return "ask" if case.place == "approval" else "auto"


def _wait_for_point(stage: Stage, terminal: TerminalProgram) -> None:
    """Until the session stands where the case wants it."""
    reached: Mapping[str, Callable[[], bool]] = {
        "command": lambda: bool((stage.work / "running").read_text()),
        "approval": lambda: asks(terminal),
        "idle": lambda: bool(stage.ends()),
    }
    at = str(stage.case.place)
    what = f"the point {at}"
    if at in reached:
        terminal.wait_until(reached[at], what, seconds=60)
    else:
        terminal.wait_until(lambda: stage.server.open_streams > 0, what, seconds=60)
    terminal.settle(QUIET)


def _check_all(stage: Stage, findings: Findings) -> None:
    events = stage.events()
    died = stage.case.family == "death"
    if stage.keeps_sessions:
        promises.check_outcomes(findings, events, len(stage.ends()))
        promises.check_results(findings, events)
    stopped = stage.case.place in ("command", "approval") or stage.case.fault == "is stopped"
    all_ran = not (died or stage.case.drops_calls or stopped)
    promises.check_side_effects(findings, stage, finished=all_ran)
    promises.check_requests(findings, stage)
    promises.check_images(findings, stage)
    promises.check_output(findings, stage)
    promises.check_key(findings, stage)
    promises.check_home(findings, stage)


_PLAYS: Mapping[Family, Callable[[Stage, Findings], None]] = {
    "answer": _faulty_server,
    "stream": _faulty_server,
    "refused": _refused,
    "user": _stopped,
    "death": _died,
    "disk": _without_disk,
    "server": play_outside,
    "hook": play_outside,
    "skill": play_outside,
}
