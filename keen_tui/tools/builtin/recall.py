"""recall: what the calls of earlier turns returned, from the session's own record. Nothing is run again."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from keen_tui.domain.display import TextDisplay
from keen_tui.domain.errors import StorageFailed, ToolFailure
from keen_tui.domain.events import ToolFinished
from keen_tui.domain.messages import ToolResult, ToolSpec
from keen_tui.domain.own_tools import own_tool
from keen_tui.domain.recorded import RECALL, RecordedCall, RecordedTurn
from keen_tui.text.lines import cut
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted, size
from keen_tui.tools.access.access import NOTHING_TOUCHED
from keen_tui.tools.builtin.recall_lists import call_line, call_name, calls_of, index_of
from keen_tui.tools.calls.arguments import checked
from keen_tui.tools.calls.earlier_turns import EarlierTurns
from keen_tui.tools.calls.tool import PreparedCall
from keen_tui.tools.files.workspace import ResolvedPath, Workspace
from keen_tui.tools.process.bounded_output import OutputSink
from keen_tui.tools.search.search import ENDED_EARLY, Match, Searcher

MOST_LINES: Final = 2_000
MOST_CHARACTERS: Final = 64_000
LONGEST_LINE: Final = 20_000
"""The most characters of a line; the rest follows with an offset."""

MOST_MATCHES: Final = 200
"""The most matching lines in one result."""

MOST_SEARCHED: Final = 16_000_000
"""Bytes of results that one search looks through, the newest first."""

_BATCH: Final = 100
"""Calls that are read at once: what a result shows a person needs as much memory as its text."""

_KEPT_OUTPUT = re.compile(r"\[… [^\n]* left out; [^\n]*? (?:is|are) in (?P<path>/[^\n]+) …\]")
"""The note in a long output that names the file with more of it."""


class Recall:
    """Reads the record of the session."""

    spec = ToolSpec(
        name=RECALL,
        description=(
            "Look up what tool calls of earlier turns of this session returned, word for word. Nothing is "
            "run again, and files may have changed since. Without arguments: a list of the turns and their "
            "calls. With `turn`: its message, reply and calls. With `turn` and `call`: the result of that "
            "call. With `pattern`: the lines of earlier results that match, the newest call first. Use it "
            "when you need earlier output and running the command again is slow or could give other output."
        ),
        parameters={
            "type": "object",
            "properties": {
                "turn": {"type": "integer", "description": "Number of a turn, from 1."},
                "call": {"type": "integer", "description": "Number of a call of that turn, from 1."},
                "pattern": {
                    "type": "string",
                    "description": "A regular expression, matched line by line as by grep_files.",
                },
                "offset": {
                    "type": "integer",
                    "description": "Where to continue a result that was cut; its last line says where.",
                },
            },
            "required": [],
        },
    )
    only_reads = True

    def __init__(self, workspace: Workspace, searcher: Searcher, earlier: EarlierTurns) -> None:
        self._workspace = workspace
        self._searcher = searcher
        self._earlier = earlier

    def target(self, arguments: Mapping[str, Any]) -> str:
        numbers = (
            f"{name} {arguments[name]}"
            for name in ("turn", "call")
            if isinstance(arguments.get(name), int | str) and len(str(arguments[name])[:20]) < 20
        )
        where, pattern = ", ".join(numbers), arguments.get("pattern")
        if isinstance(pattern, str) and pattern:
            return clean(f"{pattern[:500]} in {where}" if where else pattern[:500])
        return clean(where) or "all turns"

    async def prepare(self, arguments: Mapping[str, Any]) -> PreparedCall:
        given = checked(self.spec, arguments)
        number, call, offset = given.get("turn"), given.get("call"), given.get("offset", 1)
        pattern = given.get("pattern")
        if any(each is not None and each < 1 for each in (number, call, offset)):
            raise ToolFailure("recall: turn, call and offset count from 1.")
        if call is not None and number is None:
            raise ToolFailure("recall: call needs the number of its turn, too.")
        if pattern is not None and (not pattern or "\0" in pattern):
            raise ToolFailure("recall: the pattern is empty, or contains a NUL character.")

        async def run(_: OutputSink) -> ToolResult:
            try:
                return await self._recalled(number, call, pattern, offset)
            except StorageFailed as error:
                raise ToolFailure(f"the record of this session can't be read. {error}") from error

        return PreparedCall(access=NOTHING_TOUCHED, display=None, run=run)

    async def _recalled(
        self, number: int | None, call: int | None, pattern: str | None, offset: int
    ) -> ToolResult:
        turns = await self._earlier.record.turns()
        turn = _turn(turns, number) if number is not None else None
        found = _call(turn, call) if turn and call is not None else None
        if pattern is not None:
            chosen = [found] if found else turn.calls if turn else _finished_before(turns)
            return await self._matches(chosen, pattern, offset, is_narrow=turn is not None)
        if found:
            return await self._result(turns, found, offset)
        if turn:
            return _listed(calls_of(turn, offset), counted(len(turn.calls), "call"))
        return _listed(index_of(turns, offset), counted(len(turns), "turn"))

    async def _result(self, turns: Sequence[RecordedTurn], call: RecordedCall, offset: int) -> ToolResult:
        (event,) = await self._earlier.record.finished((call,))
        lines = event.result.text.split("\n")
        if offset > len(lines):
            raise ToolFailure(f"that result has {counted(len(lines), 'line')}; there is no line {offset}.")
        shown = _fitting(lines[offset - 1 :])
        rows = [f"[{await asyncio.to_thread(self._provenance, turns, call, event)}]", *shown]
        last = offset + len(shown) - 1
        if last < len(lines):
            rows.append(f"[lines {offset} to {last} of {len(lines)}; continue with offset {last + 1}]")
        if call.name == "bash":
            rows += await asyncio.to_thread(_kept_outputs, event.result.text)
        summary = f"turn {call.turn}, {size(sum(len(line.encode('utf-8', 'replace')) + 1 for line in shown))}"
        return ToolResult(text="\n".join(rows), summary=summary, display=_display(rows))

    def _provenance(self, turns: Sequence[RecordedTurn], call: RecordedCall, event: ToolFinished) -> str:
        """The turn and the number of the call, and whether its file has changed since. Blocks."""
        begin = f"turn {call.turn}, call {call.number}, as it was then: {call_line(call)}."
        path = event.arguments.get("path") if own_tool(call.name).takes_path else None
        place = self._place(path)
        if place is None:
            return f"{begin} Files may have changed since."
        if change := _later_change(turns, call, place):
            return (
                f"{begin} {clean(place.name)} was changed later, {change}: read it again before you edit it."
            )
        return f"{begin} {_on_disk(place.path, clean(place.name), call)}"

    def _place(self, path: object) -> ResolvedPath | None:
        try:
            return self._workspace.place(path) if isinstance(path, str) else None
        except ToolFailure:
            return None

    async def _matches(
        self, calls: Sequence[RecordedCall], pattern: str, offset: int, *, is_narrow: bool
    ) -> ToolResult:
        """The matching lines, newest call first. Results of `recall` only repeat others: they are searched
        only if their turn is given."""
        newest_first = [call for call in reversed(calls) if call.name != RECALL or is_narrow]
        chosen: list[RecordedCall] = []
        searched = 0
        for call in newest_first:
            searched += call.size + 1
            if chosen and searched > MOST_SEARCHED:
                break
            chosen.append(call)
        texts: list[str] = []
        for start in range(0, len(chosen), _BATCH):
            events = await self._earlier.record.finished(chosen[start : start + _BATCH])
            texts += (event.result.text for event in events)
        text, begins = await asyncio.to_thread(_joined, texts)
        texts.clear()
        found = await self._searcher.lines_of_text(text, pattern, offset - 1 + MOST_MATCHES)
        shown = found.first[offset - 1 :]
        rows = _grouped(shown, chosen, begins)
        if not rows:
            rows = ["no line matches" if not found.lines else f"only {counted(found.lines, 'line')} match"]
        if (last := offset - 1 + len(shown)) < found.lines:
            rows.append(
                f"[{counted(found.lines - last, 'more line')} match; continue with offset {last + 1}]"
            )
        if left := len(newest_first) - len(chosen):
            rows.append(f"[the oldest {counted(left, 'call')} were not searched; give their turn]")
        if not found.complete:
            rows.append(ENDED_EARLY)
        return _listed(rows, counted(found.lines, "match", "matches"))


def _turn(turns: Sequence[RecordedTurn], number: int) -> RecordedTurn:
    for turn in turns:
        if turn.turn == number:
            return turn
    there = f"There are turns 1 to {turns[-1].turn}." if turns else "There are none yet."
    raise ToolFailure(f"this session has no turn {number}. {there}")


def _call(turn: RecordedTurn, number: int) -> RecordedCall:
    if number > len(turn.calls):
        there = counted(len(turn.calls), "finished call") if turn.calls else "no finished call"
        raise ToolFailure(f"turn {turn.turn} has {there}; there is no call {number}.")
    return turn.calls[number - 1]


def _finished_before(turns: Sequence[RecordedTurn]) -> list[RecordedCall]:
    """The calls of all turns but the running one, whose results the model sees anyway."""
    return [call for turn in turns if turn.state != "running" for call in turn.calls]


def _listed(rows: Sequence[str], summary: str) -> ToolResult:
    return ToolResult(text="\n".join(rows), summary=summary, display=_display(rows))


def _display(rows: Sequence[str]) -> TextDisplay:
    return TextDisplay(text=clean("\n".join(rows), newlines=True, tabs=True))


def _fitting(lines: Sequence[str]) -> list[str]:
    """As many lines as one result may have, at least one."""
    shown: list[str] = []
    room = MOST_CHARACTERS
    for line in lines[:MOST_LINES]:
        room -= len(line) + 1
        if shown and room < 0:
            break
        shown.append(cut(line, LONGEST_LINE))
    return shown


def _later_change(turns: Sequence[RecordedTurn], call: RecordedCall, place: ResolvedPath) -> str:
    """The later call that changed the file, "" if none did."""
    found = ""
    for turn in turns:
        for each in turn.calls:
            if (each.turn, each.number) > (call.turn, call.number) and place.name in each.changed:
                found = f"in turn {each.turn}, call {each.number}"
        if turn.turn >= call.turn and place.name in turn.restored:
            found = f"by an undo after turn {turn.turn}"
    return found


def _on_disk(path: Path, name: str, call: RecordedCall) -> str:
    try:
        changed_at = path.stat().st_mtime
    except OSError:
        return f"{name} isn't there any more."
    if call.at and changed_at > call.at:
        return f"{name} was changed later, outside the recorded calls: read it again before you edit it."
    return f"No later change to {name} is known." if call.at else "Files may have changed since."


def _kept_outputs(text: str) -> list[str]:
    """Whether the files still exist that the result names for its whole output. Blocks."""
    paths = dict.fromkeys(found["path"] for found in _KEPT_OUTPUT.finditer(text))
    gone = "gone: run the command again if you need the rest"
    return [f"[{path} is {'still there' if Path(path).is_file() else gone}]" for path in paths]


def _joined(texts: Sequence[str]) -> tuple[str, list[int]]:
    """The texts one after the other, and the number of the first line of each, from 1."""
    begins, line = [], 1
    for text in texts:
        begins.append(line)
        line += text.count("\n") + 1
    return "\n".join(texts), begins


def _grouped(matches: Sequence[Match], calls: Sequence[RecordedCall], begins: Sequence[int]) -> list[str]:
    """The matching lines with their numbers, below a heading for each call."""
    rows: list[str] = []
    place, shown = 0, -1
    for match in matches:
        while place + 1 < len(begins) and begins[place + 1] <= match.number:
            place += 1
        if place != shown:
            rows.append(f"[{call_name(calls[place])}: {call_line(calls[place])}]")
            shown = place
        rows.append(f"{match.number - begins[place] + 1}:{match.line}")
    return rows
