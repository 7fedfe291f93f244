"""Steps and failures of a scripted server, in a form that belongs to no API, and their traces."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from keen_tui.demo.script import Call, HttpAnswer, RecordedRequest, Reply, Say, Think
from keen_tui.demo.wires import WIRES

COUNT = Call("bash", {"command": "echo ran >> counter"})
HALF = Call("bash", {"command": "echo half >> counter"})
"""A call that never arrives whole in any test."""

WORK = Reply([Think("First this."), Say("I count."), COUNT])
DONE = Reply([Say("All done.")])


def refused(status: int, message: str, headers: Mapping[str, str] | None = None, **fields: Any) -> HttpAnswer:
    """An HTTP error with the provider's sentence, and further `fields`."""
    return HttpAnswer(status, {"error": {"message": message, **fields}}, headers or {})


def encoded(reply: Reply, request: RecordedRequest) -> bytes:
    """The body of the reply in the API of the request."""
    return b"".join(event.data for event in WIRES[request.path].encode(reply, request.body, 1))


def runs(workspace: Path) -> str:
    """The output of the counting commands, "" if none ran."""
    counter = workspace / "counter"
    return counter.read_text() if counter.exists() else ""
