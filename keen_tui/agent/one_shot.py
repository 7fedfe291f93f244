"""One-shot questions to the model beside the conversation: no tools, no trace, no pending state (turn.md
rule 10)."""

from __future__ import annotations

from contextlib import aclosing

from keen_tui.agent.turn.stops import stop_notice
from keen_tui.agent.turn.turn_setup import TurnSetup
from keen_tui.domain.errors import ReplyUnreadable
from keen_tui.domain.events import Usage
from keen_tui.domain.messages import StepReply, TokenUsage
from keen_tui.domain.models import cost_of
from keen_tui.memory.projection import UserText
from keen_tui.providers.base import StepRequest


async def answer_aside(prompt: str, setup: TurnSetup) -> str:
    """The model's answer to one message; what it took is published. Asked once, never again.

    Raises:
        ProviderError: no whole answer came.
    """
    request = StepRequest(system="", parts=(UserText(prompt),), tools=())
    async with aclosing(setup.provider.stream_step(request)) as parts:
        async for part in parts:
            if isinstance(part, StepReply):
                if part.usage != TokenUsage():
                    cost = cost_of(part.usage, setup.price)
                    setup.publish(Usage(turn=0, step=0, tokens=part.usage, cost=cost))
                if part.is_cut:
                    raise ReplyUnreadable(stop_notice(part))
                return part.text
    raise AssertionError("a provider ended a step without a reply and without an error")
