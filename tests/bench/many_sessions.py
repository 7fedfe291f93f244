"""A home with thousands of saved sessions, like after a year or two: mostly short ones and a few long ones,
whose tools read Python's own library; half of them in one folder, the others in ten more."""

from __future__ import annotations

import os
import random
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from msgspec.structs import replace

from keen_tui.domain.display import FileDisplay
from keen_tui.domain.events import Event, ToolFinished
from keen_tui.storage.lookup.sessions import SessionStore
from keen_tui.storage.records import Header, event_line, header_line
from tests.bench.long_session import BEGAN, turn_events
from tests.bench.programs import Place

MANY = 5_000
_FOLDERS = 20
_KINDS_OF_TURNS = 400
_MOST_TURNS = 200
_LOG_TURNS = (1.2, 0.9)
"""Mean and standard deviation of the logarithm of the number of turns in a session."""
_LINES_READ = 120
_SECONDS_BETWEEN = 3_000.0
_ANY_TURN = 987_654_321


def write_many_sessions(where: Place, count: int = MANY) -> str:
    """Write so many sessions into the home of that place; returns the id of the newest in its work folder."""
    chance = random.Random(count)
    kinds = [_turn_lines(chance) for _ in range(_KINDS_OF_TURNS)]
    newest = ""
    for number in range(count):
        here = number % 2 == 0
        workspace = where.work if here else where.folder / f"project-{number % _FOLDERS}"
        turns = [chance.choice(kinds) for _ in range(_number_of_turns(chance))]
        path = _write(SessionStore(where.home).new_path(workspace), workspace, number, turns)
        newest = path.stem if here else newest
    return newest


def _write(path: Path, workspace: Path, number: int, turns: list[bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    began = BEGAN + number * _SECONDS_BETWEEN
    header = Header(id=path.stem, workspace=str(workspace), began=began, model="scripted")
    with path.open("wb") as file:
        file.write(header_line(header))
        for turn, lines in enumerate(turns, 1):
            file.write(lines.replace(b"%d" % _ANY_TURN, b"%d" % turn))
    path.with_suffix(".lock").touch()  # a leftover of the program that had the session open
    os.utime(path, (began, began))
    return path


def _number_of_turns(chance: random.Random) -> int:
    return min(1 + int(chance.lognormvariate(*_LOG_TURNS)), _MOST_TURNS)


def _turn_lines(chance: random.Random) -> bytes:
    """The lines of a turn in a session file, with a number that is corrected later."""
    return b"".join(event_line(1, BEGAN, event) for event in _events(chance))


def _events(chance: random.Random) -> Iterator[Event]:
    for event in turn_events(_ANY_TURN, chance):
        yield _with_library(event, chance) if isinstance(event, ToolFinished) else event


def _with_library(event: ToolFinished, chance: random.Random) -> ToolFinished:
    """The call with a piece of Python's library as its result."""
    lines = chance.choice(_library())
    first = chance.randrange(max(len(lines) - _LINES_READ, 1))
    text = "\n".join(lines[first : first + _LINES_READ])
    display = FileDisplay(path=event.target, text=text)
    return replace(event, result=replace(event.result, text=text, display=display))


@cache
def _library() -> tuple[tuple[str, ...], ...]:
    """The lines of each module of the standard library."""
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    return tuple(tuple(file.read_text("utf-8", "replace").splitlines()) for file in files)
