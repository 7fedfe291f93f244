"""One attempt at a turn: what its first request needs, and then the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import chain
from typing import Final

from keen_tui.agent.hooks.answers import with_reason
from keen_tui.agent.turn.active_turn import ActiveTurn
from keen_tui.agent.turn.attachments.images import images_of, publish_images
from keen_tui.agent.turn.attachments.resources import publish_resources, resources_of
from keen_tui.agent.turn.attachments.skills import called_skill, facts_of_calls, publish_skill
from keen_tui.agent.turn.compaction import compact
from keen_tui.agent.turn.context_meter import ContextMeter
from keen_tui.agent.turn.loop import broken_by_bug, run_turn
from keen_tui.agent.turn.settle import Broken, Ending
from keen_tui.agent.turn.turn_hooks import add_context
from keen_tui.agent.turn.turn_setup import TurnSetup
from keen_tui.domain.events import CompactionFailed, Notice
from keen_tui.memory.conversation import Conversation

ASSUMED_WINDOW: Final = 32_000
"""Tokens. The context window, as far as the tools of MCP servers go, if nothing says how large it is."""


async def run_attempt(
    turn: ActiveTurn,
    conversation: Conversation,
    setup: TurnSetup,
    meter: ContextMeter,
    most_tokens: float,
    window: int | None,
) -> Ending:
    """Attach what the message names, make room in the context window, and run the turn to its end. Never
    raises: cancelling the task ends it as interrupted.

    Args:
        conversation: the session's; what is published here enters it.
        most_tokens: a first request that is larger has the conversation summarised; 0: never.
        window: the tokens that the model takes; None: unknown.
    """
    try:
        if blocked := await _run_prompt_hooks(turn, conversation, setup):
            return blocked
        window_bytes = (window or ASSUMED_WINDOW) * meter.size.bytes_per_token
        await _take_server_tools(turn, setup, window_bytes)
        if setup.options.attaches:
            await _attach(turn, conversation, setup)
        return await _make_room(turn, conversation, setup, meter, most_tokens) or await run_turn(turn, setup)
    except asyncio.CancelledError:
        return Broken(reason="interrupted", detail=setup.why_stopped())
    except Exception as error:
        return broken_by_bug(turn.turn, error)


async def _run_prompt_hooks(turn: ActiveTurn, conversation: Conversation, setup: TurnSetup) -> Broken | None:
    """Let hooks block the turn's message or add context to it, before the turn has done any work."""
    await setup.hooks.begun()
    if turn.has_work:
        return None
    text = conversation.unanswered[-1].text
    answer = await setup.hooks.before_prompt(turn.turn, text)
    if answer.blocks or answer.ends is not None:
        why = answer.why if answer.blocks else answer.ends
        return Broken(reason="hook", detail=with_reason("A hook blocked this message", why or ""))
    add_context(turn.turn, answer.context, setup)
    return None


async def _take_server_tools(turn: ActiveTurn, setup: TurnSetup, window_bytes: float) -> None:
    """Take over the tools that MCP servers offer now. The first turn waits a little for servers that are
    starting."""
    servers = setup.toolbox.servers
    if servers is None:
        return

    def tell(names: Sequence[str], seconds: float) -> None:
        text = f"Waiting up to {seconds:.0f} seconds for MCP servers that are starting: {', '.join(names)}."
        setup.publish(Notice(turn=turn.turn, text=text))

    steps = chain.from_iterable(turn.past.steps.get(trace.turn, ()) for trace in turn.traces)
    await servers.begin_turn(tell, window_bytes, chain.from_iterable(step.calls for step in steps))


async def _attach(turn: ActiveTurn, conversation: Conversation, setup: TurnSetup) -> None:
    """Read the skill that the message calls, and the images and resources that it names, and those of earlier
    messages whose turns ended before they were read. What was read once isn't read again."""
    traced = {trace.turn for trace in turn.traces}
    for message in conversation.unanswered:
        if message.turn in traced:
            continue
        images = message.images
        if not (message.skill and message.skill.bytes):
            publish_skill(message.turn, await called_skill(message.text, setup), setup)
        if not images:
            read = await images_of(message.text, setup)
            publish_images(message.turn, read, setup)
            images = read.images
        if not message.resources:
            publish_resources(message.turn, await resources_of(message.text, images, setup), setup)
    turn.facts += facts_of_calls(conversation.unanswered)
    turn.past = conversation.past


async def _make_room(
    turn: ActiveTurn, conversation: Conversation, setup: TurnSetup, meter: ContextMeter, most_tokens: float
) -> Broken | None:
    """Summarise before the turn's first request if the request would nearly fill the context window."""
    tokens = await meter.measure_first(turn.past, turn.traces, turn.policy, setup)
    if not most_tokens or tokens <= most_tokens or conversation.is_summary:
        return None
    end = await compact(turn.past, conversation.answered, turn.policy, setup, "", automatic=True)
    if isinstance(end, CompactionFailed) and end.reason == "interrupted":
        return Broken(reason="interrupted", detail=setup.why_stopped())
    turn.past = conversation.past
    await meter.measure_first(turn.past, turn.traces, turn.policy, setup)
    return None
