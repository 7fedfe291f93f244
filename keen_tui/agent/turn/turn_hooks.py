"""Adds the texts of hooks to a turn: to the user's message, and to results."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from keen_tui.agent.hooks.answers import HookAnswer, denial, with_reason
from keen_tui.agent.turn.turn_setup import TurnSetup
from keen_tui.domain.events import ContextAdded, Notice
from keen_tui.domain.messages import Message, ToolResult
from keen_tui.memory.rendering import fenced
from keen_tui.text.units import first_line, size


def add_context(turn: int, text: str, setup: TurnSetup) -> None:
    """Add a hook's text to the newest message of the user in that turn, and say so."""
    if text:
        setup.publish(ContextAdded(turn=turn, text=text))
        setup.publish(Notice(turn=turn, text=f"A hook added {size(len(text.encode()))} to this message."))


async def admitted(message: Message, setup: TurnSetup) -> Sequence[Message]:
    """The steering message, with the context that hooks add; nothing if they block it, and the user is told
    so."""
    answer = await setup.hooks.before_prompt(message.turn, message.text)
    if not answer.blocks:
        return (replace(message, context=answer.context),)
    words = first_line(message.text)
    sentence = with_reason(f"Your message {words!r} wasn't sent. A hook blocked it", answer.why)
    setup.publish(Notice(turn=message.turn, text=sentence))
    return ()


def denied_by_hook(answer: HookAnswer) -> ToolResult:
    """The result of a call that a hook denied."""
    return ToolResult(text=denial(answer), summary="denied by a hook", is_error=True, denied=True, ran=False)


def with_answer(result: ToolResult, answer: HookAnswer) -> ToolResult:
    """The result with what hooks say after the call."""
    said = [
        f"[a hook adds, after this call]\n{fenced(text)}"
        for text in (answer.reason if answer.blocks else "", answer.context)
        if text
    ]
    if answer.blocks and not answer.reason:
        said.insert(0, "[a hook objects to this call and gives no reason]")
    return replace(result, text="\n".join((result.text, *said))) if said else result
