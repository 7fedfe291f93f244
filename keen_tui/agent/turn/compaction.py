"""Compaction: the model summarises the conversation; TurnMemory is kept as it is.

This is a one-shot call: it neither injects nor saves pending state. Without a complete summary nothing
changes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from keen_tui.agent.hooks.answers import with_reason
from keen_tui.agent.turn.model_call import stream_reply, until_complete
from keen_tui.agent.turn.request import step_request
from keen_tui.agent.turn.stopped_replies import stop_notice
from keen_tui.agent.turn.turn_setup import TurnSetup
from keen_tui.domain.errors import ContextExceeded, EmptyReply, ProviderError, ReplyUnreadable
from keen_tui.domain.events import (
    Compacted,
    CompactionDelta,
    CompactionFailed,
    CompactionStarted,
)
from keen_tui.domain.messages import Message, StepReply, StopReason, TurnMemory, merged_memory
from keen_tui.memory.conversation import COMPACTED, Past
from keen_tui.memory.pending import native_bytes
from keen_tui.memory.policies import MemoryPolicy, policy_of, visible
from keen_tui.memory.projection import AssistantText, Part, PastStep, UserText
from keen_tui.memory.rendering import render_assistant, render_user
from keen_tui.providers.wire.provider import StepPart, StepRequest, StepText

log = logging.getLogger(__name__)

TEXT_LIMITS = (None, 8_000, 2_000, 500)
"""Characters that each message may have, from try to try, when the whole is too long for the window."""

_PROMPT = """\
Write a summary of our conversation so far. It will replace all messages above, so it must contain \
everything that you need to continue. Cover, in this order and only where there is something to say: what I \
want, with the requests and decisions that still apply; what has been done and found out, with the names of \
files, functions and commands; what is unfinished or known to be broken; what comes next. At most 600 words, \
plain Markdown, no headings above level 3. Do not list every file changed or command failed: the program \
keeps those lists. Call no tools."""


async def compact(
    past: Past,
    answered: Sequence[Message],
    policy: MemoryPolicy,
    setup: TurnSetup,
    focus: str,
    *,
    automatic: bool = False,
) -> Compacted | CompactionFailed:
    """Summarise the `answered` messages, with which `past` begins, and publish the result.

    Never raises: cancelling the task ends it as interrupted.
    """
    turns = len({message.turn for message in answered if message.role == "user" and not message.by_program})
    start = CompactionStarted(turns=turns, focus=focus, automatic=automatic)
    old = Past(tuple(answered), past.steps)
    end: Compacted | CompactionFailed
    try:
        answer = await setup.hooks.before_compaction(focus, automatic=automatic)
        if answer.blocks:
            end = CompactionFailed(
                reason="hook", detail=with_reason("A hook blocked the summary", answer.why)
            )
        else:
            end = await _compacted(old, policy, setup, start)
    except asyncio.CancelledError:
        end = CompactionFailed(reason="interrupted", detail=setup.why_stopped())
    except ProviderError as error:
        end = CompactionFailed(reason=error.reason, detail=setup.options.retries.explain(error))
    except Exception as error:
        log.exception("a compaction failed by a bug")
        end = CompactionFailed(
            reason="internal", detail=f"Keen itself failed ({type(error).__name__}: {error})."
        )
    setup.publish(end)
    return end


async def _compacted(
    old: Past, policy: MemoryPolicy, setup: TurnSetup, start: CompactionStarted
) -> Compacted:
    """Raises ProviderError: no complete summary came."""
    started_at = setup.clock()
    setup.publish(start)
    # Measured before the summary is asked for: an interrupt in a wait after it would lose it.
    memory, bytes_before = await asyncio.to_thread(_measured, old, policy, setup)
    summary = await _summary(old, policy, setup, start)
    return Compacted(
        turn=old.messages[-1].turn,
        turns=start.turns,
        summary=summary,
        turn_memory=memory,
        bytes_before=bytes_before,
        bytes_after=_size((UserText(COMPACTED), AssistantText(render_assistant(summary, memory))), setup),
        seconds=setup.clock() - started_at,
    )


def _measured(old: Past, policy: MemoryPolicy, setup: TurnSetup) -> tuple[TurnMemory, int]:
    """The TurnMemory of all messages, and the bytes that requests carry of them. Blocks: a long session takes
    a while."""
    memories = (message.memory for message in old.messages if message.memory)
    return merged_memory(memories), _size(step_request(old, (), policy, setup, ()).parts, setup)


async def _summary(old: Past, policy: MemoryPolicy, setup: TurnSetup, start: CompactionStarted) -> str:
    """The summary. If the messages are too long for the model, shortened ones are sent.

    Raises:
        ProviderError: no complete summary came.
    """
    requests = _requests(old, policy, setup, start.focus)
    request = await asyncio.to_thread(next, requests)
    while True:
        try:
            return _checked(await _reply(request, policy, setup, start), policy)
        except ContextExceeded:
            shorter = await asyncio.to_thread(next, requests, None)
            if shorter is None:
                raise
            request = shorter
            setup.publish(start)


def _requests(old: Past, policy: MemoryPolicy, setup: TurnSetup, focus: str) -> Iterator[StepRequest]:
    """The same question after messages that get shorter each time, while any can be cut. Blocks: a long
    session takes a while."""
    previous: StepRequest | None = None
    for limit in TEXT_LIMITS:
        request = _request(*_cut(old, policy, limit), setup, focus)
        if request != previous:
            yield request
        previous = request


_UNFINISHED: Mapping[StopReason, str] = {
    "length": "The summary was cut off at the model's output limit.",
    "refusal": "The model refused to write a summary.",
    "content_filter": "The provider's content filter ended the summary.",
}


def _checked(reply: StepReply, policy: MemoryPolicy) -> str:
    if problem := _UNFINISHED.get(reply.stop_reason):
        raise ReplyUnreadable(problem)
    if reply.is_cut:
        raise ReplyUnreadable(f"The summary is incomplete. {stop_notice(reply)}")
    if reply.tool_calls:
        raise ReplyUnreadable("The model called a tool instead of writing a summary.")
    text = visible(policy, reply.text).strip()
    if not text:
        raise EmptyReply("The model sent no summary.")
    return text


def _request(old: Past, policy: MemoryPolicy, setup: TurnSetup, focus: str) -> StepRequest:
    """The conversation as requests carry it, then the question; tools only if calls are replayed."""
    prompt = f"{_PROMPT}\n\nGive special weight to this: {focus}" if focus else _PROMPT
    question = Message(role="user", text=prompt, turn=0, by_program=True)
    asked = Past((*old.messages, question), old.steps)
    request = step_request(asked, (), policy, setup, setup.toolbox.specs)
    replays = any(isinstance(part, PastStep) for part in request.parts)
    return request if replays else replace(request, tools=())


async def _reply(
    request: StepRequest, policy: MemoryPolicy, setup: TurnSetup, start: CompactionStarted
) -> StepReply:
    """The reply to the request, which is retried as often as the policy allows. Each retry publishes `start`
    again: the words before it don't count any more."""

    async def call() -> StepReply:
        words = policy.filter()

        def say(text: str) -> None:
            if text:
                setup.publish(CompactionDelta(text=text))

        def hear(part: StepPart) -> None:
            match part:
                case StepText(text):
                    say(words.feed(text))
                case StepReply():
                    say(words.finish())

        return await stream_reply(request, setup, hear)

    return await until_complete(call, setup, before_retry=lambda _, __: setup.publish(start))


def _cut(old: Past, policy: MemoryPolicy, limit: int | None) -> tuple[Past, MemoryPolicy]:
    """The messages with shortened texts and no steps, under the policy that sends their TurnMemory instead of
    steps."""
    if limit is None:
        return old, policy
    return Past(tuple(_shortened(message, limit) for message in old.messages)), policy_of("summary")


def _shortened(message: Message, limit: int) -> Message:
    whole = render_user(message) if message.ran else message.text
    if len(whole) <= limit:
        return replace(message, images=())
    half = limit // 2
    left_out = len(whole) - limit
    text = f"{whole[:half]}\n[{left_out:,} characters left out]\n{whole[-half:]}"
    return replace(message, text=text, ran=(), images=())


def _size(parts: Sequence[Part], setup: TurnSetup) -> int:
    return sum(native_bytes(setup.provider.native(part)) for part in parts)
