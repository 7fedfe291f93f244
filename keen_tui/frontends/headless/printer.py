"""Prints a turn in one of the output formats."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final, TextIO

from keen_tui.domain.choices import Output
from keen_tui.domain.event_records import as_record, as_told
from keen_tui.domain.events import (
    EndEvent,
    Event,
    Notice,
    RunEnded,
    SessionOpened,
    TurnDone,
    TurnError,
    TurnIncomplete,
    Usage,
)
from keen_tui.domain.spent import NOTHING, Spent
from keen_tui.frontends.headless.not_done import NotDone
from keen_tui.frontends.headless.outlets import note, write_line
from keen_tui.frontends.headless.sentences import NO_REPLY, failure_lines, progress_line, what_is_lost
from keen_tui.text.sanitize import clean

SCHEMA: Final = 1
"""Version of the JSON output. New fields don't change it; changed or removed fields do."""

SUMMED_UP: Final = (TurnDone, TurnIncomplete, TurnError, RunEnded)
"""Events whose lines in `stream-json` also say what has been refused and left behind so far."""


class Printer:
    """Prints events to `out`; `end` is the end event once it has come.

    Lines for a person go to `err`, so in the text format `out` has only the answer.

    Args:
        session_id: printed in the JSON formats.
        keeps_pending: pending state is kept on the disk after this process.
    """

    def __init__(
        self, output: Output, out: TextIO, err: TextIO | None, session_id: str, *, keeps_pending: bool
    ) -> None:
        self._session_id = session_id
        self.keeps_pending = keeps_pending
        self.end: EndEvent | None = None
        self.output = output
        self.out = out
        self._err = err
        self._spent = NOTHING
        self._notices: list[str] = []
        self._not_done = NotDone()

    def begin(self, notices: Iterable[str]) -> None:
        """Print the session id, and notices that come before the turn. Raises OutputFailed."""
        if self.output == "stream-json":
            self.print_json(as_told(SessionOpened(id=self._session_id)) | {"schema": SCHEMA})
        for text in notices:
            self.say(f"! {text}")
            self._notices.append(text)
            if self.output == "stream-json":
                self.print_json(as_told(Notice(turn=0, text=text)))

    def show(self, event: Event, *, saved: bool | None = None) -> None:
        """Print an event. `saved`: whether the session file holds it; None if nobody waited for that.

        Raises:
            OutputFailed: it can't be printed.
        """
        self._not_done.note(event)
        if self.output == "stream-json":
            known = {} if saved is None else {"saved": saved}
            more = self._not_done.record if isinstance(event, SUMMED_UP) else {}
            self.print_json(as_told(event) | known | more)
        match event:
            case Usage():
                self._spent = self._spent.plus(event)
            case Notice():
                self._notices.append(event.text)
            case TurnDone() | TurnIncomplete() | TurnError():
                self.end = event
                self.show_end(event, saved=bool(saved))
        if self.output == "text":
            self.say(progress_line(event))
            for line in failure_lines(event):
                self.say(f"    {line}")

    def say(self, line: str | None) -> None:
        """Print a line for a person; None prints nothing. If it can't be written, it is left out."""
        if line:
            note(line, self._err)

    def show_end(self, end: EndEvent, *, saved: bool) -> None:
        """Print the end of the turn. `saved`: the session file holds it. Raises OutputFailed."""
        if not isinstance(end, TurnDone):
            self.say(what_is_lost(end, self._session_id if self.keeps_pending else ""))
        elif is_without_answer(end) and not self._notices:
            self._notices.append(NO_REPLY)
            self.say(f"! {NO_REPLY}")
        self.say_not_done()
        if self.output == "json":
            is_error = not isinstance(end, TurnDone) or is_without_answer(end)
            self.print_json(as_record(end) | self.facts(is_error=is_error, saved=saved))
        if self.output == "text" and end.text:
            write_line(clean(end.text) if self.out.isatty() else end.text, self.out)

    def say_not_done(self) -> None:
        """Say what could not be done without a person."""
        for line in self._not_done.lines():
            self.say(line)

    def facts(self, *, is_error: bool, saved: bool) -> dict[str, Any]:
        """The fields of the json format that aren't in the end event."""
        return {
            "schema": SCHEMA,
            "session_id": self._session_id,
            "is_error": is_error,
            "saved": saved,
            "notices": self._notices,
            **self._not_done.record,
            "usage": _usage(self._spent),
        }

    def print_json(self, record: dict[str, Any]) -> None:
        """Print a line of JSON. Raises OutputFailed."""
        line = json.dumps(record, ensure_ascii=False)
        try:
            line.encode(self.out.encoding or "utf-8")
        except UnicodeEncodeError:  # another encoding than UTF-8, or half of a surrogate pair
            line = json.dumps(record)
        write_line(line, self.out)


def is_without_answer(end: TurnDone) -> bool:
    """Whether the model's reply is empty. A person sees that on a screen; a script must be told."""
    return not end.text.strip()


def _usage(spent: Spent) -> dict[str, Any]:
    """Tokens and cost of all steps; null if no server reported them."""
    return {
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
        "cached_tokens": spent.cached_tokens,
        "cost_usd": spent.cost if spent else None,
    }
