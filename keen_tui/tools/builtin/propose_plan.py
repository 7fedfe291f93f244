"""propose_plan: a plan of the model, for the person to accept, in plan mode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keen_tui.domain.choices import Mode
from keen_tui.domain.display import TextDisplay
from keen_tui.domain.errors import ToolFailure
from keen_tui.domain.events import AnswerChoice
from keen_tui.domain.messages import ToolResult, ToolSpec
from keen_tui.text.sanitize import clean
from keen_tui.text.units import first_line
from keen_tui.tools.access.access import NOTHING_TOUCHED
from keen_tui.tools.calls.arguments import checked
from keen_tui.tools.calls.question_spec import QuestionReply, QuestionSpec
from keen_tui.tools.calls.tool import PreparedCall, not_run

_LONGEST_PLAN = 20_000

_AUTO_EDIT, _ASK, _KEEP_PLANNING = range(3)
_CHOICES = (
    AnswerChoice(label="yes, continue in auto-edit", consequence="edits and sandboxed commands run"),
    AnswerChoice(label="yes, and ask each time", consequence="it asks before edits and commands that write"),
    AnswerChoice(label="keep planning", consequence="say what should be different", wants_words=True),
)
_MODES: Mapping[int | None, Mode] = {_AUTO_EDIT: "auto-edit", _ASK: "ask"}
_REMEMBER = "Later turns don't see this call: if you end here, put the plan into your reply."


class ProposePlan:
    """Shows a plan. Accepting it ends plan mode, and the turn continues."""

    spec = ToolSpec(
        name="propose_plan",
        description=(
            "In plan mode, where you can only read: propose a plan once you have read everything that "
            "matters. If the user accepts it, plan mode ends and you carry the plan out in the same turn; "
            "otherwise they say what should be different. In other modes, just do the work."
        ),
        parameters={
            "type": "object",
            "properties": {
                "plan": {
                    "type": "string",
                    "description": "In Markdown: what you will change and where, in which order, and how "
                    "you will check it.",
                },
            },
            "required": ["plan"],
        },
    )
    only_reads = False

    def target(self, arguments: Mapping[str, Any]) -> str:
        plan = arguments.get("plan")
        return clean(first_line(plan).lstrip("# ").replace("`", "")) if isinstance(plan, str) else ""

    async def prepare(self, arguments: Mapping[str, Any]) -> PreparedCall:
        plan = clean(checked(self.spec, arguments)["plan"], newlines=True).strip()
        if not plan or len(plan) > _LONGEST_PLAN:
            raise ToolFailure(f"plan must have 1 to {_LONGEST_PLAN:,} characters.")
        asked = QuestionSpec(
            question="Go ahead with this plan?",
            choices=_CHOICES,
            result=lambda reply: _result(plan, reply),
            body=plan,
            modes=_MODES,
            only_in="plan",
            elsewhere="This isn't plan mode: no plan is needed. Do the work.",
        )
        return PreparedCall(access=NOTHING_TOUCHED, display=None, run=not_run, asks=asked)


def _result(plan: str, reply: QuestionReply) -> ToolResult:
    text, summary = _outcome(reply)
    said = f"\n\n> {clean(reply.words, newlines=True)}" if reply.words else ""
    is_accepted = reply.choice in _MODES
    return ToolResult(
        text=text, summary=summary, denied=not is_accepted, display=TextDisplay(text=f"{plan}{said}")
    )


def _outcome(reply: QuestionReply) -> tuple[str, str]:
    """The texts about an answer, for the model and for the person."""
    if reply.nobody:
        return f"There is nobody to ask about the plan, so plan mode stays on. {_REMEMBER}", "nobody to ask"
    if reply.choice in _MODES:
        mode = _MODES[reply.choice]
        return (
            f"The user accepts the plan. From now on the mode is {mode}: carry it out.",
            f"accepted: {mode}",
        )
    if reply.choice == _KEEP_PLANNING:
        words = f"The user wants the plan changed: {reply.words}"
        return f"{words}\nPlan mode stays on: look again where needed, then propose a new plan.", "not yet"
    return f"The user does not accept the plan, and plan mode stays on. {_REMEMBER}", "declined"
