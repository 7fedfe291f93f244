"""A command in the background, as front ends see it."""

from __future__ import annotations

from msgspec import Struct


class TaskReport(Struct, frozen=True, kw_only=True):
    """How a command is now. `state` says it in words ("running for 2 min"), `turn` is the turn that began it,
    `bytes` the size of its output, `last_line` its newest line, "" if there is none; `failed`
    and `stopped` say how it ended. `file` says where a long
    output is, "" if it is short."""

    id: str
    command: str
    state: str
    running: bool
    failed: bool
    stopped: bool
    turn: int
    bytes: int
    last_line: str
    file: str = ""
