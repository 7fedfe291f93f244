"""One-shot questions to the model beside the conversation: no tools, no trace, no pending state (turn.md
rule 10)."""

from __future__ import annotations

from keen_tui.agent.turn.model_call import stream_reply
from keen_tui.agent.turn.stops import stop_notice
from keen_tui.agent.turn.turn_setup import TurnSetup
from keen_tui.domain.errors import ReplyUnreadable
from keen_tui.memory.projection import UserText
from keen_tui.providers.wire.provider import StepRequest


async def answer_aside(prompt: str, setup: TurnSetup) -> str:
    """The model's answer to one message; what it took is published. Asked once, never again.

    Raises:
        ProviderError: no whole answer came.
    """
    request = StepRequest(system="", parts=(UserText(prompt),), tools=())
    reply = await stream_reply(request, setup)
    if reply.is_cut:
        raise ReplyUnreadable(stop_notice(reply))
    return reply.text
