"""Texts that others collected, in every place of the real screen: rows keep their width, and nothing of
theirs reaches the terminal but what can be read (R8, U08 to U10)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.cells import cell_len

from keen_tui.domain.display import CommandDisplay, DiffDisplay, DiffLine, FileListDisplay, TextDisplay
from keen_tui.domain.events import (
    ApprovalAnswered,
    ApprovalRequested,
    Event,
    Notice,
    QueueChanged,
    ReasoningDelta,
    SessionRenamed,
    TextDelta,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnError,
    TurnIncomplete,
    TurnStarted,
)
from keen_tui.domain.facts.command_failed import CommandFailed
from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.domain.messages import ToolResult, TurnMemory
from tests.fuzz.budget import LONG
from tests.fuzz.corpora import COMMONMARK, DRIVING, NAUGHTY, WIDE
from tests.support.workspace import Driver, workspace

_OURS = re.compile(
    r"\x1b\[[0-9;]*[mHK]"  # colours, the cursor's place, the rest of a row
    r"|\x1b\[\?[0-9;]+[hl]|\x1b\[[<>=][0-9;]*u"  # modes, keys of the kitty protocol
    r"|\x1b\]22;[a-z-]*\x07"  # the shape of the pointer
    r"|\x1b\[2[23];2t|\x1b\]2;[^\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]*\x1b\\"  # the title
    r"|\x1b\]8;(?:id=\d+)?;(?:https?://[^\x00-\x20\x7f-\x9f]+)?\x1b\\"  # links of Markdown, to the web alone
    r"|[\r\n]"
)
_ACTS = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f\ud800-\udfff]")


class Tape:
    """A terminal that keeps what is written."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, data: str) -> None:
        self.text += data

    def foreign(self) -> list[str]:
        """What was written and acts, but is none of ours; what was written is forgotten."""
        rest, self.text = _OURS.sub("", self.text), ""
        return [rest[max(found.start() - 20, 0) : found.end() + 20] for found in _ACTS.finditer(rest)]


def everywhere(text: str, turn: int) -> Iterator[Event]:
    """The text in every place where text from outside is shown."""
    call = {"turn": turn, "step": 1, "id": f"c{turn}", "name": text, "target": text}
    arguments = {"command": text, "path": text, text or "x": text}
    failed = CommandFailed(command=text, exit_code=1)
    facts = (FileChanged(path=text), failed)
    row = DiffLine(sign="+", number=1, text=text)
    yield SessionRenamed(title=text)
    yield TurnStarted(turn=turn, attempt=1, text=text)
    yield ReasoningDelta(turn=turn, step=1, text=text, seconds=1.0)
    yield TextDelta(turn=turn, step=1, text=text)
    for display in (
        CommandDisplay(command=text, output=text, exit_code=1),
        DiffDisplay(path=text, hunks=((row,),), added=1, removed=0, total_lines=1),
        FileListDisplay(lines=(text,)),
        TextDisplay(text=text),
    ):
        yield ToolStarted(**call, arguments=arguments)  # type: ignore[arg-type]
        yield ToolOutput(turn=turn, id=f"c{turn}", text=text, lines=1, bytes=len(text))
        result = ToolResult(text=text, summary=text, display=display, facts=facts, is_error=True)
        yield ToolFinished(**call, arguments=arguments, result=result, seconds=0.1)  # type: ignore[arg-type]
    yield Notice(turn=turn, text=text)
    yield QueueChanged(texts=(text,))
    memory = TurnMemory(files_changed=(text,), failed_bash=(failed,))
    yield TurnIncomplete(
        turn=turn, attempt=1, reason="cut", detail=text, text=text, turn_memory=memory, calls=1,
        seconds=1.0, trace_bytes=10,
    )  # fmt: skip
    yield TurnStarted(turn=turn + 1, attempt=1, text=None)
    yield TurnError(turn=turn + 1, attempt=1, reason="provider", detail=text, seconds=1.0)


def question(text: str, turn: int) -> ApprovalRequested:
    """The text in a question."""
    display = CommandDisplay(command=text, output="", exit_code=None)
    return ApprovalRequested(
        turn=turn, id=f"q{turn}", name=text, arguments={"command": text}, target=text, question=text,
        why=text, display=display, grant=text,
    )  # fmt: skip


def assert_in_order(driver: Driver, tape: Tape, text: str) -> None:
    """Every row is as wide as the screen, and nothing that acts was written."""
    width = driver.app.size.width
    for row in driver.rows():
        assert cell_len(row) == width, (row, text)
    foreign = tape.foreign()
    assert not foreign, (foreign, text)


CORPORA = {"commonmark": COMMONMARK, "naughty": NAUGHTY, "driving": DRIVING, "wide": WIDE}
_SHORT = ("driving", "wide")
_ON_ONE_SCREEN = 20
_FEW = {"commonmark": 110, "naughty": 40, "driving": 4, "wide": 2}


@pytest.mark.parametrize("name", CORPORA)
async def test_a_text_in_every_place_keeps_the_rows_and_reaches_no_terminal(
    tmp_path: Path, name: str
) -> None:
    tape = Tape()
    texts = CORPORA[name][:: 1 if LONG and name in _SHORT else 5 if LONG else _FEW[name]]
    for first in range(0, len(texts), _ON_ONE_SCREEN):
        async with workspace(tmp_path, size=(100, 50), terminal=tape) as driver:
            for turn, text in enumerate(texts[first : first + _ON_ONE_SCREEN]):
                await _show(driver, tape, text, 2 * turn + 1)


async def _show(driver: Driver, tape: Tape, text: str, turn: int) -> None:
    await driver.play(*everywhere(text, turn))
    assert_in_order(driver, tape, text)
    await driver.play(TurnStarted(turn=turn + 1, attempt=2, text=None), question(text, turn + 1))
    assert_in_order(driver, tape, text)
    await driver.play(
        ApprovalAnswered(
            turn=turn + 1, id=f"q{turn + 1}", allowed=False, for_session=False, message=text, by="user"
        )
    )
