"""The measured programs, each in its own terminal, folder and home."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import keen_tui
from tests.support.terminal import TerminalProgram

HERE = Path(__file__).parent
PACKAGE = Path(keen_tui.__file__).parents[1]
"""The folder of the program to measure."""

NOWHERE = "http://127.0.0.1:9/v1"
"""A server that doesn't answer."""

PROMPT_SIGN = "›"
"""The sign before the composer; it appears nowhere else until the composer is painted."""

IN_WORKSPACE = "Activity"
"""A word of the workspace; the entrance doesn't show it."""

BARE = (sys.executable, str(HERE / "bare_app.py"))


@dataclass(frozen=True, slots=True)
class Place:
    """The folder where a program works, and its home."""

    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def work(self) -> Path:
        return self.folder / "work"

    @property
    def report(self) -> Path:
        """The file for the report of a watched program."""
        return self.folder / "report.json"

    def ask(self, program: TerminalProgram) -> dict[str, Any]:
        """The report of the watched program since the last call."""
        self.report.unlink(missing_ok=True)
        os.kill(program.pid, signal.SIGUSR1)
        program.wait_until(self.report.exists, "the report", seconds=60)
        found: dict[str, Any] = json.loads(self.report.read_text())
        return found


@contextmanager
def place() -> Iterator[Place]:
    """A new place, which is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="keen-bench-", ignore_cleanup_errors=True) as folder:
        new = Place(Path(folder))
        new.home.mkdir()
        new.work.mkdir()
        yield new


def keen(base_url: str = NOWHERE, *flags: str) -> tuple[str, ...]:
    """The command that starts the workspace against a server."""
    return (sys.executable, "-P", "-m", "keen_tui", *_model(base_url), *flags)


def watched(watches: str, place: Place, base_url: str = NOWHERE, *flags: str) -> tuple[str, ...]:
    """The same, watched by `watch.py`, which writes `place.report`."""
    watch = (sys.executable, "-P", str(HERE / "watch.py"), str(place.report), watches)
    return (*watch, *_model(base_url), *flags)


def in_terminal(
    argv: tuple[str, ...], place: Place, *, columns: int = 120, rows: int = 40
) -> TerminalProgram:
    """The running command in that place."""
    environ = {
        "KEEN_HOME": str(place.home),
        "PYTHONPATH": str(PACKAGE),
        "PYTHONDONTWRITEBYTECODE": "",  # an installed program is compiled once, not at every start
        "OPENAI_API_KEY": "",
        "OPENAI_BASE_URL": "",
    }
    return TerminalProgram(argv, columns=columns, rows=rows, folder=place.work, environ=environ)


@contextmanager
def workspace(base_url: str = NOWHERE, *flags: str) -> Iterator[TerminalProgram]:
    """The workspace in a new place, ready: painted, its SDK imported, at rest."""
    with place() as new, in_terminal(keen(base_url, *flags), new) as program:
        program.wait_for(PROMPT_SIGN)
        program.come_to_rest(1.0)
        yield program


def _model(base_url: str) -> tuple[str, ...]:
    return ("--base-url", base_url, "--model", "scripted", "--mode", "auto")
