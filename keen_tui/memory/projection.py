"""What a request holds behind the system prompt: the conversation under a policy, with native traces.

Every provider builds its requests from these parts, so all send the same words. Same input, same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from keen_tui.memory.conversation import Past
from keen_tui.memory.pending import PendingTrace
from keen_tui.memory.policies import MemoryPolicy
from keen_tui.messages import Message, NativeMessage, ToolStep


class UserText(Struct, frozen=True):
    text: str
    turn: int = 0


class AssistantText(Struct, frozen=True):
    text: str
    turn: int = 0


class PastStep(Struct, frozen=True):
    """A step of a finished turn, to be sent as native tool calls and results."""

    step: ToolStep
    turn: int = 0


class NativeTrace(Struct, frozen=True):
    """Provider-native messages, to be sent as they are."""

    messages: tuple[NativeMessage, ...]
    turn: int = 0


Part = UserText | AssistantText | PastStep | NativeTrace


def project(past: Past, traces: Iterable[PendingTrace], policy: MemoryPolicy) -> list[Part]:
    """The parts in order.

    Each trace stands behind the user message of its turn (turn.md rule 1), and so do the steps of a finished
    turn where the policy replays them. Adjacent texts of one role become one, as chat templates of many
    local models want it; an assistant message that is blank after rendering is left out.
    """
    behind = {trace.turn: trace.messages for trace in traces if trace.messages}
    parts: list[Part] = []
    replayed: list[ToolStep] = []
    for message in past.messages:
        if message.role == "assistant":
            _add_reply(parts, message, policy.reply(message, replayed))
            replayed = []
            continue
        _add_user_text(parts, message)
        if native := behind.get(message.turn):
            parts.append(NativeTrace(native, message.turn))
        else:
            steps = policy.replayed(past.steps.get(message.turn, ()), message.turn)
            parts += (PastStep(step, message.turn) for step in steps)
            replayed += steps
    return parts


def _add_reply(parts: list[Part], message: Message, text: str) -> None:
    last = parts[-1] if parts else None
    if text.strip() and isinstance(last, AssistantText):
        parts[-1] = AssistantText(f"{last.text}\n\n{text}", last.turn)
    elif text.strip():
        parts.append(AssistantText(text, message.turn))


def _add_user_text(parts: list[Part], message: Message) -> None:
    last = parts[-1] if parts else None
    if isinstance(last, UserText):
        parts[-1] = UserText(f"{last.text}\n\n{message.text}", message.turn)
    else:
        parts.append(UserText(message.text, message.turn))
