"""The programs that are measured, each in a terminal, a folder and a home of its own."""

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
"""The folder that holds the program to measure."""

NOWHERE = "http://127.0.0.1:9/v1"
"""A server that does not answer."""

PROMPT_SIGN = "›"
"""Stands before the composer, and nowhere before that is painted."""

BARE = (sys.executable, str(HERE / "bare_app.py"))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a program works and where its home is."""

    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def work(self) -> Path:
        return self.folder / "work"

    @property
    def report(self) -> Path:
        """What a watched program writes down of itself."""
        return self.folder / "report.json"

    def ask(self, program: TerminalProgram) -> dict[str, Any]:
        """What the watched program saw of itself since it was last asked."""
        self.report.unlink(missing_ok=True)
        os.kill(program.pid, signal.SIGUSR1)
        program.wait_until(self.report.exists, "the report", seconds=60)
        found: dict[str, Any] = json.loads(self.report.read_text())
        return found


@contextmanager
def place() -> Iterator[Place]:
    """A new place, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="keen-bench-", ignore_cleanup_errors=True) as folder:
        new = Place(Path(folder))
        new.home.mkdir()
        new.work.mkdir()
        yield new


def keen(base_url: str = NOWHERE, *flags: str) -> tuple[str, ...]:
    """The command that starts the workspace against a server."""
    return (sys.executable, "-P", "-m", "keen_tui", *_model(base_url), *flags)


def watched(watches: str, place: Place, base_url: str = NOWHERE, *flags: str) -> tuple[str, ...]:
    """The same under the eyes of `watch.py`, which writes `place.report`."""
    watch = (sys.executable, "-P", str(HERE / "watch.py"), str(place.report), watches)
    return (*watch, *_model(base_url), *flags)


def in_terminal(
    argv: tuple[str, ...], place: Place, *, columns: int = 120, rows: int = 40
) -> TerminalProgram:
    """The command at work in that place."""
    environ = {
        "KEEN_HOME": str(place.home),
        "PYTHONPATH": str(PACKAGE),
        "PYTHONDONTWRITEBYTECODE": "",  # an installed program is compiled once, not at each start
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
