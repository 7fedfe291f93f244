"""Keen TUI: a terminal workspace for a coding agent.

Programs use it by `open_session`. The names for programs are imported when one of them is used, since the
workspace itself needs none of them.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keen_tui.api import (
        Allow,
        Approval,
        ConfigError,
        Deny,
        FunctionResult,
        KeenError,
        KeenSession,
        Message,
        ModelMissing,
        PendingWork,
        RunningTurn,
        SessionInUse,
        SessionRefused,
        StorageFailed,
        ToolFailure,
        TurnMemory,
        UserAnswer,
        UserQuestion,
        event_record,
        events,
        open_session,
        tool,
    )

__version__ = "0.1.0"

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

if not TYPE_CHECKING:  # a type checker would take any name for one of the package

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from keen_tui import api  # noqa: PLC0415 - only for programs that use it

        return getattr(api, name)


def __dir__() -> list[str]:
    return sorted((*__all__, "__version__"))
