"""ask_user: a question with a few answers to choose from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from keen_tui.domain.display import TextDisplay
from keen_tui.domain.errors import ToolFailure
from keen_tui.domain.events import AnswerChoice
from keen_tui.domain.messages import ToolResult, ToolSpec
from keen_tui.text.sanitize import clean
from keen_tui.tools.access.access import NOTHING_TOUCHED
from keen_tui.tools.calls.arguments import checked, converted, mentioned
from keen_tui.tools.calls.question_spec import QuestionReply, QuestionSpec
from keen_tui.tools.calls.tool import PreparedCall, not_run

_FEWEST, _MOST = 2, 6
_LONGEST_QUESTION = 2_000
_LONGEST_LABEL = 200
"""The most characters of an answer, and of its consequence."""

_NOBODY = "There is nobody to ask. Make the safest assumption, continue, and say at the end what you assumed."
_DECLINED = (
    "The user does not want to answer. Make the safest assumption and say what it is, or, if a wrong one "
    "would be costly, stop and say what you need."
)

OWN_WORDS = AnswerChoice(label="something else", consequence="in your own words", wants_words=True)


class _Choice(Struct, frozen=True):
    label: str
    consequence: str = ""


class AskUser:
    """Asks the user. Their answer is the result; nothing else ever answers."""

    spec = ToolSpec(
        name="ask_user",
        description=(
            "Ask the user a question whose answer changes what you do next and that you can't find out "
            f"yourself. Offer {_FEWEST} to {_MOST} answers, your preferred one first, each with its "
            "consequence; the user can always answer in other words, or decline. "
            "One question per call. Don't ask for permission: calls that need it ask automatically."
        ),
        parameters={
            "type": "object",
            "properties": {
                "question": {
                    "type": "string",
                    "description": "The question, with everything the user must know to answer it.",
                },
                "choices": {
                    "type": "array",
                    "description": "The answers to choose from.",
                    "minItems": _FEWEST,
                    "maxItems": _MOST,
                    "items": {
                        "type": "object",
                        "properties": {
                            "label": {"type": "string", "description": "The answer, in a few words."},
                            "consequence": {
                                "type": "string",
                                "description": "The consequence of that answer.",
                            },
                        },
                        "required": ["label"],
                    },
                },
            },
            "required": ["question", "choices"],
        },
    )
    only_reads = False

    def target(self, arguments: Mapping[str, Any]) -> str:
        return mentioned(arguments, "question")

    async def prepare(self, arguments: Mapping[str, Any]) -> PreparedCall:
        given = checked(self.spec, arguments)
        question = clean(given["question"], newlines=True).strip()
        if not question or len(question) > _LONGEST_QUESTION:
            raise ToolFailure(f"question must have 1 to {_LONGEST_QUESTION:,} characters.")
        choices = _choices(given["choices"])
        asked = QuestionSpec(
            question=question,
            choices=(*choices, OWN_WORDS),
            result=lambda reply: _result(question, choices, reply),
        )
        return PreparedCall(access=NOTHING_TOUCHED, display=None, run=not_run, asks=asked)


def _choices(given: Sequence[object]) -> tuple[AnswerChoice, ...]:
    items = [_Choice(item) if isinstance(item, str) else item for item in given]
    choices = tuple(
        AnswerChoice(label=_short(each.label), consequence=_short(each.consequence))
        for each in converted("ask_user", "choices", items, list[_Choice])
    )
    if not _FEWEST <= len(choices) <= _MOST:
        raise ToolFailure(f"choices must be {_FEWEST} to {_MOST}, not {len(choices)}.")
    if not all(choice.label for choice in choices):
        raise ToolFailure("each choice needs a label.")
    return choices


def _short(text: str) -> str:
    return clean(text).strip()[:_LONGEST_LABEL]


def _result(question: str, choices: Sequence[AnswerChoice], reply: QuestionReply) -> ToolResult:
    if reply.nobody:
        return ToolResult(
            text=_NOBODY,
            summary="nobody to ask",
            denied=True,
            display=_shown(question, choices, None, "there is nobody to ask"),
        )
    if reply.choice is None:
        return ToolResult(
            text=_DECLINED,
            summary="declined",
            denied=True,
            display=_shown(question, choices, None, "declined"),
        )
    if reply.choice < len(choices):
        label = choices[reply.choice].label
        return ToolResult(
            text=f"The user chose: {label}",
            summary=label,
            display=_shown(question, choices, reply.choice, ""),
        )
    words = clean(reply.words, newlines=True)
    return ToolResult(
        text=f"The user answers: {reply.words}",
        summary=clean(reply.words),
        display=_shown(question, choices, None, words),
    )


def _shown(question: str, choices: Sequence[AnswerChoice], chosen: int | None, words: str) -> TextDisplay:
    rows = [question, ""]
    for number, choice in enumerate(choices):
        consequence = f"   {choice.consequence}" if choice.consequence else ""
        rows.append(f"{'>' if number == chosen else ' '} {number + 1}  {choice.label}{consequence}")
    return TextDisplay(text="\n".join((*rows, *([f"> {words}"] if words else []))))
