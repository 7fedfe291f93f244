"""A command in the background, as front ends see it."""

from __future__ import annotations

from msgspec import Struct


class TaskReport(Struct, frozen=True, kw_only=True):
    """How a command is now. `state` says it in words ("running for 2 min"), and once it has ended, `failed`
    and `stopped` say how. `turn` is the turn that began it, 0 if that was in another session; `bytes` is the
    size of its output, `last_line` its newest line, "" if there is none. `file` says where a long output is,
    "" if it is short. `left_behind` are sentences about changes that stayed in the sandbox."""

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
    left_behind: tuple[str, ...] = ()
