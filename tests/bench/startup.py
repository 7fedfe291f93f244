"""From process start to the first thing seen, to the composer, and to the first request."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Reply, Say
from keen_tui.demo.threaded import serving
from tests.bench.table import Row
from tests.support.terminal import TerminalProgram

PROMPT_SIGN = "›"
ROUNDS = 9

BARE_APP = """\
from textual.app import App, ComposeResult
from textual.widgets import Static

class Bare(App):
    def compose(self) -> ComposeResult:
        yield Static("BARE-READY")

Bare().run()
"""
IMPORT_SDK = "import openai, openai.resources.chat.completions.completions"


def keen(base_url: str = "http://127.0.0.1:9/v1") -> tuple[str, ...]:
    """The command that starts the workspace against a server."""
    return (sys.executable, "-m", "keen_tui", "--base-url", base_url, "--model", "scripted", "--mode", "auto")


def rows() -> Iterator[Row]:
    """First paint, first sign of life, first request."""
    paint: dict[str, list[float]] = {"bare": [], "keen": []}
    for _ in range(ROUNDS):
        paint["bare"].append(_first_paint((sys.executable, "-c", BARE_APP), "BARE-READY"))
        paint["keen"].append(_first_paint(keen(), PROMPT_SIGN))
    yield Row(
        what="first paint: process start to composer",
        value=statistics.median(paint["keen"]),
        unit="s CPU",
        reference=statistics.median(paint["bare"]),
        against="bare Textual app",
        budget=1.2,
    )
    skeletons = [_first_paint(keen(), "keen") for _ in range(ROUNDS)]
    yield Row(
        what="first sign: the skeleton", value=statistics.median(skeletons) * 1000, unit="ms CPU", budget=50
    )
    sdk = statistics.median(_wall(lambda: _run_python(IMPORT_SDK)) for _ in range(3))
    yield Row(
        what="first request when Enter is pressed at once",
        value=statistics.median(_first_request() for _ in range(5)),
        unit="s",
        reference=statistics.median(paint["bare"]) + sdk,
        against="bare app + import of the SDK alone",
        budget=1.2,
    )


def _first_paint(argv: tuple[str, ...], words: str) -> float:
    with tempfile.TemporaryDirectory() as home, _program(argv, home) as program:
        program.wait_for(words)
        return program.cpu()


def _first_request() -> float:
    server = ModelServer(lambda _: Reply([Say("Hello.")]))
    with (
        serving(server),
        tempfile.TemporaryDirectory() as home,
        _program(keen(server.base_url), home) as program,
    ):
        program.wait_for("keen")  # from here on the terminal keeps keys as they are
        program.type("hi\r")
        program.wait_until(lambda: bool(server.requests), 60, "the first request")
        return time.perf_counter() - program.started_at


def _program(argv: tuple[str, ...], home: str) -> TerminalProgram:
    return TerminalProgram(
        argv, folder=Path(home), environ={"KEEN_HOME": home, "PYTHONPATH": str(Path.cwd())}
    )


def _run_python(code: str) -> None:
    with TerminalProgram((sys.executable, "-c", f"{code}\nprint('IMPORTED')")) as program:
        program.wait_for("IMPORTED")


def _wall(work: Callable[[], None]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin
