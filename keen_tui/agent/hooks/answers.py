"""Reads the answers of hooks: an exit code with standard error, or JSON on standard output."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from keen_tui.settings.added.hooks import HookPoint
from keen_tui.text.sanitize import clean
from keen_tui.tools.process.hook_process import BLOCKS, HookRun

_MOST_CONTEXT: Final = 10_000
"""Characters of a hook's text that the model gets."""

_LONGEST_LINE: Final = 500

_PLAIN_CONTEXT: Final = ("SessionStart", "UserPromptSubmit")
"""Events at which output that isn't JSON is context for the model."""

BLOCKS_NOTHING: Final[frozenset[HookPoint]] = frozenset(
    (
        "Setup",
        "SessionStart",
        "SubagentStart",
        "SessionEnd",
        "Notification",
        "TurnIncomplete",
        "TurnRetried",
        "TurnDiscarded",
    )
)
"""Events at which a hook can't block anything: the exit code 2 is a failure like others."""

HookRuling = Literal["", "allow", "ask", "deny"]


class HookAnswer(Struct, frozen=True, kw_only=True):
    """The answer of one hook, or of all hooks of an event together.

    `ruling` is about a call or a permission, `blocks` about everything else; `reason` goes with both.
    `arguments` replace those of the call, under the names that the hook was given; None changes none.
    `context` is for the model, `told` are sentences for the user, and so are `failures`, about hooks that
    didn't do their work. `ends`: the turn ends, for that reason. Reasons are "" if the hook gave none. What
    the user reads has no second line: it could look like a question of Keen's.
    """

    ruling: HookRuling = ""
    blocks: bool = False
    reason: str = ""
    arguments: Mapping[str, Any] | None = None
    context: str = ""
    told: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    ends: str | None = None

    @property
    def why(self) -> str:
        """The reason for people."""
        return in_a_line(self.reason)


NO_ANSWER: Final = HookAnswer()
_STRICTNESS: Final[tuple[HookRuling, ...]] = ("", "allow", "ask", "deny")


class BadAnswer(Exception):
    """A hook's output can't be understood; the text says why."""


def answer_of(point: HookPoint, run: HookRun) -> HookAnswer:
    """The answer of a hook that ended with exit code 0 or BLOCKS.

    Raises:
        BadAnswer: its output begins like JSON, but isn't what hooks answer.
    """
    if run.code == BLOCKS:
        return HookAnswer(ruling="deny", blocks=True, reason=_text(run.errors))
    output = run.output.strip()
    if not output.startswith("{"):
        return HookAnswer(context=_text(output)) if point in _PLAIN_CONTEXT else NO_ANSWER
    try:
        given = json.loads(output)
        json.dumps(given, ensure_ascii=False, allow_nan=False).encode()  # what can't be sent
    except (ValueError, RecursionError) as error:
        raise BadAnswer(f"its output isn't valid JSON: {error}") from error
    answer = _from_json(given)
    return replace(answer, ruling="", blocks=False) if point in BLOCKS_NOTHING else answer


def joined(answers: Iterable[HookAnswer]) -> HookAnswer:
    """The answers of all hooks of an event: the strictest ruling counts, and the first reason for it."""
    whole = NO_ANSWER
    for each in answers:
        is_stricter = _STRICTNESS.index(each.ruling) > _STRICTNESS.index(whole.ruling)
        first = each if is_stricter or (each.blocks and not whole.blocks) else whole
        whole = HookAnswer(
            ruling=first.ruling if is_stricter else whole.ruling,
            blocks=whole.blocks or each.blocks,
            reason=first.reason,
            arguments=whole.arguments if each.arguments is None else each.arguments,
            context="\n".join(filter(None, (whole.context, each.context)))[:_MOST_CONTEXT],
            told=(*whole.told, *each.told),
            failures=(*whole.failures, *each.failures),
            ends=each.ends if whole.ends is None else whole.ends,
        )
    return whole


def _from_json(given: Mapping[str, Any]) -> HookAnswer:
    specific = given.get("hookSpecificOutput")
    specific = specific if isinstance(specific, dict) else {}
    decision = specific.get("decision")
    decision = decision if isinstance(decision, dict) else {}
    ruling = _ruling(specific.get("permissionDecision") or decision.get("behavior") or given.get("decision"))
    reasons = (specific.get("permissionDecisionReason"), decision.get("message"), given.get("reason"))
    arguments = specific.get("updatedInput", decision.get("updatedInput"))
    if arguments is not None and not isinstance(arguments, dict):
        raise BadAnswer("updatedInput must be an object")
    message = in_a_line(_text(given.get("systemMessage")))
    goes_on = given.get("continue") is not False
    return HookAnswer(
        ruling=ruling,
        blocks=given.get("decision") == "block",
        reason=next(filter(None, map(_text, reasons)), ""),
        arguments=arguments,
        context=_text(specific.get("additionalContext")),
        told=(f"A hook says: {message}",) if message else (),
        ends=None if goes_on else in_a_line(_text(given.get("stopReason"))),
    )


def _ruling(word: object) -> HookRuling:
    """`approve` and `block` are the older words for a decision about a call."""
    match word:
        case "allow" | "approve":
            return "allow"
        case "deny" | "block":
            return "deny"
        case "ask":
            return "ask"
        case None | "defer":
            return ""
        case _:
            raise BadAnswer(f"{word!r} isn't a decision: allow, ask, deny or block")


def _text(value: object) -> str:
    """A text from a hook, safe to show and to send."""
    return clean(value, newlines=True).strip()[:_MOST_CONTEXT] if isinstance(value, str) else ""


def in_a_line(text: str) -> str:
    """A text from a hook as one line, cut to what anybody reads."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…"


def with_reason(sentence: str, reason: str, before: str = ": ", *, gives: str = "gave") -> str:
    """A sentence about a hook, with its reason after `before`, or without one."""
    return f"{sentence}{before}{reason}" if reason else f"{sentence} and {gives} no reason."


def denial(answer: HookAnswer) -> str:
    """Returns the text for the model about a call that a hook denied."""
    return with_reason("A hook denied this call", answer.reason, " and says: ")
