"""Every exception that Keen TUI raises on purpose.

KeenError
├── ConfigError            a setting, flag or file is wrong: says what, where and what to do
│   └── KeyProblem         a key can't be the one of that action
├── ModelMissing           no model, or no key for it: says what to do
├── SessionRefused         the session can't do that now: says why
│   └── SessionInUse       another program has that session open: fork it
├── StorageFailed          a session can't be read or written: says which and why
│   └── SessionUnknown     no session, or more than one, has that name
├── WorkTreeFailed         a git work tree can't be made, merged or removed: says which, why and what to do
├── OutputFailed           standard output can't be written: says why
├── ImageRefused           an image can't go with a message: says which and why
├── ToolFailure            a tool can't do what it was asked: the text goes to the model
├── ServerFailed           an MCP server can't be used, or not for that: says why
│   ├── ServerGone         the connection to it ended
│   └── SignInNeeded       it wants a person to sign in
└── ProviderError          a model call failed; `reason` is the reason of the turn's end event
    ├── AuthFailed         401, 403                                  (auth)
    ├── RequestRefused     400, 404, 422, quota: trying again is no use  (provider)
    ├── ContextExceeded    413, 400 with a context length code           (context)
    ├── ServerBusy         408, 409, 429, 5xx, 529: worth another attempt (provider)
    ├── ConnectionFailed   no connection, DNS, TLS, reset before the reply (network)
    ├── StreamCut          the stream ended before its terminal event    (cut)
    ├── StreamStalled      no byte for the stall limit                   (stalled)
    ├── ReplyUnreadable    the server answered something that isn't a reply: worth another attempt (provider)
    │   └── NotAStream     a whole document instead of a stream: worth one more, since each may be paid for
    └── EmptyReply         the model said nothing where it had to        (empty)
"""

from __future__ import annotations

from typing import ClassVar, Literal

EndReason = Literal[
    "provider",
    "auth",
    "network",
    "cut",
    "stalled",
    "empty",
    "step_limit",
    "context",
    "interrupted",
    "hook",
    "internal",
]
"""Why a turn ended without being done (turn.md, "How a turn ends")."""

NOBODY = "there is nobody to ask"
"""How the refusal begins when nobody could be asked."""

NOBODY_IN_BACKGROUND = "background commands can't ask"
"""How the refusal of a host begins for such a command."""

STOPPED = "You stopped it."
"""The detail of a turn that the user interrupted."""

PROGRAM_ENDED = "Keen ended while this turn was running."
"""The detail of a turn that was interrupted because its program ended."""


class KeenError(Exception):
    """Base of all exceptions raised on purpose; `str(error)` is a sentence for the user."""


class ConfigError(KeenError):
    """A setting, a flag or a file is wrong. The text says what, where and what to do."""


class KeyProblem(ConfigError):
    """A key that can't be used for this action. `action_id` is the action's name in the table `keys`."""

    def __init__(self, action_id: str, sentence: str) -> None:
        super().__init__(f"keys.{action_id}: {sentence}")
        self.action_id = action_id


class ModelMissing(KeenError):
    """No model can be used yet. The text says what is missing and what to do."""


class SessionRefused(KeenError):
    """The session can't do that now, for example a retry while a turn runs."""


class SessionInUse(SessionRefused):
    """Another program has the session open."""


class StorageFailed(KeenError):
    """A saved session, or a file that belongs to it, can't be read or written. The text says which and
    why."""


class SessionUnknown(StorageFailed):
    """No session, or more than one, has the given name."""


class WorkTreeFailed(KeenError):
    """A git work tree can't be made, merged or removed. The text says which, why and what to do."""


class OutputFailed(KeenError):
    """The output can't be printed. The text says why."""


class ImageRefused(KeenError):
    """An image can't be sent with a message. The text says which and why."""


class ResourceRefused(KeenError):
    """A resource of an MCP server can't be sent with a message. The text says which and why."""


class ToolFailure(KeenError):
    """A tool can't do what it was asked. The text is the error result that the model reads."""


class ServerFailed(KeenError):
    """An MCP server can't be used, or can't do what it was asked. The text is the end of a sentence."""


class ServerGone(ServerFailed):
    """The connection to an MCP server ended."""


class SignInNeeded(ServerFailed):
    """An MCP server wants the user to sign in. The text says why as the end of a sentence; it is empty if the
    user hasn't signed in yet."""


class ProviderError(KeenError):
    """A model call failed.

    Args:
        message: one sentence for the user; never holds a key.
        retry_after: seconds the server asked to wait, or None.
        retryable: whether another attempt may help, where that is not as for all of its class.
        rate_limited: the server says that there were too many requests or tokens in a time.
        advice: a second sentence, which says what to do.
    """

    reason: ClassVar[EndReason] = "provider"
    retryable: bool = False
    attempts: ClassVar[int | None] = None
    """The most attempts that make sense; None: as many as are wanted."""

    def __init__(
        self,
        message: str,
        *,
        retry_after: float | None = None,
        retryable: bool | None = None,
        rate_limited: bool = False,
        advice: str = "",
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.retryable = type(self).retryable if retryable is None else retryable
        self.rate_limited = rate_limited
        self.advice = advice


class AuthFailed(ProviderError):
    reason = "auth"


class RequestRefused(ProviderError):
    pass


class ContextExceeded(ProviderError):
    reason = "context"


class ServerBusy(ProviderError):
    retryable = True


class ConnectionFailed(ProviderError):
    reason = "network"
    retryable = True


class StreamCut(ProviderError):
    reason = "cut"
    retryable = True


class StreamStalled(ProviderError):
    reason = "stalled"
    retryable = True


class ReplyUnreadable(ProviderError):
    retryable = True


class NotAStream(ReplyUnreadable):
    attempts = 2


class EmptyReply(ProviderError):
    reason = "empty"
