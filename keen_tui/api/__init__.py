"""The Python API: `open_session` and its types. `import keen_tui` offers the same names."""

from __future__ import annotations

import logging

from keen_tui.api.asking import Allow, Approval, Deny, UserAnswer, UserQuestion
from keen_tui.api.function_tools import tool
from keen_tui.api.keen_session import KeenSession, PendingWork
from keen_tui.api.opening import open_session
from keen_tui.api.running_turn import RunningTurn
from keen_tui.domain import events
from keen_tui.domain.errors import (
    ConfigError,
    KeenError,
    ModelMissing,
    SessionInUse,
    SessionRefused,
    StorageFailed,
    ToolFailure,
)
from keen_tui.domain.event_records import as_told as event_record
from keen_tui.domain.messages import Message, TurnMemory
from keen_tui.tools.functions.function_tool import FunctionResult

logging.getLogger("keen_tui").addHandler(logging.NullHandler())
"""A program that sets up no logging gets no tracebacks of ours on its standard error."""

__all__ = [
    "Allow",
    "Approval",
    "ConfigError",
    "Deny",
    "FunctionResult",
    "KeenError",
    "KeenSession",
    "Message",
    "ModelMissing",
    "PendingWork",
    "RunningTurn",
    "SessionInUse",
    "SessionRefused",
    "StorageFailed",
    "ToolFailure",
    "TurnMemory",
    "UserAnswer",
    "UserQuestion",
    "event_record",
    "events",
    "open_session",
    "tool",
]
