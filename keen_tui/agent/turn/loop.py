"""The turn loop: call the model, run the tools it asks for, until it finishes or something breaks.

`run_turn` never raises: how a turn ended is a value. What it gathered stands beside it in an ActiveTurn
and outlives whatever ended it. Only whole steps enter the trace.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain

from msgspec.structs import replace

from keen_tui.agent.hooks.answers import with_reason
from keen_tui.agent.turn.active_turn import ActiveTurn
from keen_tui.agent.turn.attachments.images import ReadImages, images_of, publish_images
from keen_tui.agent.turn.attachments.resources import ReadResources, publish_resources, resources_of
from keen_tui.agent.turn.attachments.skills import called_skill, facts_of_calls, publish_skill
from keen_tui.agent.turn.batch import keep_pending, run_batch, run_open_step
from keen_tui.agent.turn.model_call import stream_reply, until_complete
from keen_tui.agent.turn.request import step_request
from keen_tui.agent.turn.settle import Broken, Ending, Finished
from keen_tui.agent.turn.stopped_replies import is_context_full, is_refused, runnable, stop_notice
from keen_tui.agent.turn.turn_hooks import add_context, admitted
from keen_tui.agent.turn.turn_setup import TurnSetup
from keen_tui.domain.errors import ContextExceeded, EndReason, ProviderError
from keen_tui.domain.events import (
    Notice,
    ReasoningDelta,
    Steered,
    StepRestarted,
    TextDelta,
    WebSearched,
)
from keen_tui.domain.messages import Message, NativeMessage, StepReply
from keen_tui.memory.projection import UserText, sent_images
from keen_tui.memory.rendering import fenced, render_user
from keen_tui.providers.wire.provider import StepPart, StepReasoning, StepSearch, StepText
from keen_tui.system.threads import raise_if_cancelled
from keen_tui.text.units import first_line
from keen_tui.tools.background.task_text import failures, news

log = logging.getLogger(__name__)


async def run_turn(turn: ActiveTurn, setup: TurnSetup) -> Ending:
    """Run the turn to its end. Cancelling the task ends it as interrupted; nothing is ever raised."""
    try:
        return await _steps(turn, setup)
    except asyncio.CancelledError:
        return Broken(reason="interrupted", detail=setup.why_stopped())
    except ProviderError as error:
        return Broken(
            reason=error.reason,
            detail=setup.options.retries.explain(error),
            may_pass=error.retryable,
            retry_after=error.retry_after,
        )
    except Exception as error:
        return broken_by_bug(turn.turn, error)


def broken_by_bug(turn: int, error: Exception) -> Broken:
    """How a turn ends because of a bug in Keen. The details go to the log."""
    log.error("turn %d ended by a bug", turn, exc_info=error)
    return Broken(reason="internal", detail=f"Keen itself failed ({type(error).__name__}: {error}).")


async def _steps(turn: ActiveTurn, setup: TurnSetup) -> Ending:
    if step := turn.open_step:
        broken = await run_open_step(turn, setup, step) or await _boundary(turn, setup)
        if broken:
            return broken
    while turn.step < setup.options.max_steps:
        raise_if_cancelled()
        turn.step += 1
        reply = await _answered_with_news(turn, setup)
        if reply.tool_calls and not is_refused(reply):
            _tell_of_odd_end(turn, setup, reply)
            if broken := await run_batch(turn, setup, runnable(reply)) or await _boundary(turn, setup):
                return broken
        else:
            ending = _last_step(turn, setup, reply)
            if not isinstance(ending, Finished):
                return ending
            goes_on = await _going_on(turn, setup, reply)
            turn.add_step(reply)  # only now: a trace that is continued never ends in a reply
            if not goes_on:
                return ending
            turn.trace.extend(goes_on)
            keep_pending(turn, setup)
    most = setup.options.max_steps
    return Broken(reason="step_limit", detail=f"The turn reached its limit of {most} steps.")


async def _boundary(turn: ActiveTurn, setup: TurnSetup) -> Broken | None:
    """Handle the time between the results of a step and the next one. Returns the end of the turn if a hook
    wants it; otherwise sends the user's steering messages."""
    if (why := setup.hooks.wants_end) is not None:
        return Broken(reason="hook", detail=with_reason("A hook ended the turn", why))
    await _steer(turn, setup)
    return None


async def _answered_with_news(turn: ActiveTurn, setup: TurnSetup) -> StepReply:
    """The step's reply to a request that tells the model of commands in the background: which run, in the
    first step of an attempt, and which have ended. If no reply comes, it hasn't been told."""
    tasks, is_first = setup.toolbox.tasks, turn.step == 1
    ended, notes = tasks.untold, tasks.notes
    told = news(tasks.running if is_first else (), ended, notes)
    messages = setup.provider.native(UserText(told, turn.turn)) if told else ()
    turn.trace.extend(messages)
    try:
        reply = await _call_model_until_complete(turn, setup)
    except BaseException:
        del turn.trace[len(turn.trace) - len(messages) :]
        raise
    tasks.told(ended, notes)
    turn.facts += failures(ended)
    return reply


def _last_step(turn: ActiveTurn, setup: TurnSetup, reply: StepReply) -> Ending:
    notice = stop_notice(reply)
    if not reply.text.strip() and not is_refused(reply):
        if turn.has_work:
            reason: EndReason = "context" if is_context_full(reply) else "empty"
            return Broken(reason=reason, detail=notice or "The model sent an empty reply.")
        notice = notice or "The model sent an empty reply."
    if notice:
        setup.publish(Notice(turn=turn.turn, text=notice))
    return Finished(reason=reply.stop_reason)


_MOST_STOPS_BLOCKED = 8
"""How often hooks can keep one turn going."""


async def _going_on(turn: ActiveTurn, setup: TurnSetup, reply: StepReply) -> Sequence[NativeMessage]:
    """The message with the reason of a hook that keeps the turn going after its last step; none if the turn
    ends."""
    if is_refused(reply):
        return ()
    goes_on = turn.stops_blocked > 0
    answer = await setup.hooks.before_stop(turn.turn, reply.text, goes_on=goes_on)
    if not answer.blocks or answer.ends is not None:
        return ()
    if turn.stops_blocked == _MOST_STOPS_BLOCKED:
        text = f"A hook kept this turn going {_MOST_STOPS_BLOCKED} times. Now the turn ends."
        setup.publish(Notice(turn=turn.turn, text=text))
        return ()
    turn.stops_blocked += 1
    reason = fenced(answer.reason) if answer.reason else ""
    words = with_reason("A hook says that you aren't done", reason, ":\n", gives="gives")
    told = with_reason("A hook keeps the turn going", first_line(answer.reason), gives="gives")
    setup.publish(Notice(turn=turn.turn, text=told))
    return setup.provider.native(UserText(words, turn.turn))


_NO_SEARCH = "Web search is on, but {} has none that Keen can use."
_NO_IMAGES = "{} doesn't take images: it got only their paths."


def _tell_of_odd_end(turn: ActiveTurn, setup: TurnSetup, reply: StepReply) -> None:
    """An unknown stop reason is reported once per turn: a server with reasons of its own uses them for every
    step."""
    if reply.stop_word and reply.stop_word not in turn.told_stop_words:
        turn.told_stop_words.add(reply.stop_word)
        setup.publish(Notice(turn=turn.turn, text=stop_notice(reply)))


async def _call_model_until_complete(turn: ActiveTurn, setup: TurnSetup) -> StepReply:
    """The step's reply, retried as often as the policy allows. No tool of the step has run yet."""
    left_out = 0

    async def call() -> StepReply:
        with _telling_of_images_refused(turn, setup), _telling_of_no_search(turn, setup):
            return await _call_model(turn, setup)

    def shorten(error: ProviderError) -> bool:
        nonlocal left_out
        if left_out or not isinstance(error, ContextExceeded):
            return False
        left_out = turn.shorten(setup.provider)
        if left_out:
            setup.nested.forget()
            _tell_of_shortening(turn, setup, left_out)
        return left_out > 0

    def restart(failure: ProviderError, waited: float) -> None:
        setup.publish(StepRestarted(turn=turn.turn, step=turn.step, reason=failure.reason, seconds=waited))

    return await until_complete(
        call, setup, turn=turn.turn, step=turn.step, mend=shorten, before_retry=restart
    )


def _tell_of_shortening(turn: ActiveTurn, setup: TurnSetup, left_out: int) -> None:
    setup.publish(StepRestarted(turn=turn.turn, step=turn.step))
    text = (
        f"The context window is full: Keen leaves out {left_out:,} characters of the oldest tool results "
        "and tries the step again."
    )
    setup.publish(Notice(turn=turn.turn, text=text))


@contextmanager
def _telling_of_images_refused(turn: ActiveTurn, setup: TurnSetup) -> Iterator[None]:
    """Tells the user if this call finds out that the server refuses images; later calls don't repeat it."""
    took_images = setup.provider.takes_images
    try:
        yield
    finally:
        if took_images and not setup.provider.takes_images:
            setup.publish(Notice(turn=turn.turn, text=_NO_IMAGES.format(setup.provider.model)))


@contextmanager
def _telling_of_no_search(turn: ActiveTurn, setup: TurnSetup) -> Iterator[None]:
    """Tells the user once, if web search is wanted and the API or the server has none."""
    provider = setup.provider
    is_first = turn.step == 1 and setup.newest_request.identity != provider.identity
    was_told = provider.lacks_search and not is_first
    try:
        yield
    finally:
        if provider.lacks_search and not was_told:
            setup.publish(Notice(turn=turn.turn, text=_NO_SEARCH.format(provider.server or provider.model)))


async def _call_model(turn: ActiveTurn, setup: TurnSetup) -> StepReply:
    request = step_request(turn.past, turn.traces, turn.policy, setup, setup.toolbox.specs, setup.projector)
    words = turn.policy.filter()
    reasoning_since: float | None = None

    def say(text: str) -> None:
        if text:
            setup.publish(TextDelta(turn=turn.turn, step=turn.step, text=text))

    def hear(part: StepPart) -> None:
        nonlocal reasoning_since
        if setup.toolbox.watch:
            setup.toolbox.watch.look_ahead()  # while the model goes on
        match part:
            case StepText(text):
                say(words.feed(text))
            case StepReasoning(text):
                now = setup.clock()
                reasoning_since = now if reasoning_since is None else reasoning_since
                seconds = now - reasoning_since
                setup.publish(ReasoningDelta(turn=turn.turn, step=turn.step, text=text, seconds=seconds))
            case StepSearch(query=query, sources=sources, problem=problem):
                setup.publish(
                    WebSearched(turn=turn.turn, step=turn.step, query=query, sources=sources, problem=problem)
                )
            case StepReply():
                say(words.finish())

    past, traces = turn.past, turn.traces
    reply = await stream_reply(request, setup, hear, turn=turn.turn, step=turn.step)
    setup.newest_request.note(past, traces, setup.provider.identity)
    return reply


async def _steer(turn: ActiveTurn, setup: TurnSetup) -> None:
    """Add the user's steering messages, with their skills, images and resources, after the tool results
    (turn.md rule 15). If this is interrupted, the text is added all the same, unless a hook has yet to be
    asked."""
    texts = deque(setup.queue.at_boundary())
    if not texts:
        return
    messages: list[Message] = []
    images, resources = [ReadImages()] * len(texts), [ReadResources()] * len(texts)
    try:
        while texts:
            messages += await admitted(Message(role="user", text=texts[0], turn=turn.turn), setup)
            texts.popleft()
        for place, message in enumerate(messages):
            message = messages[place] = replace(message, skill=await called_skill(message.text, setup))
            images[place] = read = await images_of(message.text, setup)
            message = messages[place] = replace(message, images=read.images)
            resources[place] = found = await resources_of(message.text, read.images, setup)
            messages[place] = replace(message, resources=found.resources)
    finally:
        setup.queue.put_back(texts)
        sent = tuple(chain.from_iterable(map(sent_images, messages)))
        said = "\n\n".join(render_user(message, whole=True) for message in messages)
        if said:
            turn.trace.extend(setup.provider.native(UserText(said, turn.turn, sent)))
        turn.facts += facts_of_calls(messages)
        for message, read, found in zip(messages, images, resources, strict=False):
            setup.publish(Steered(turn=turn.turn, step=turn.step, text=message.text))
            add_context(turn.turn, message.context, setup)
            publish_skill(turn.turn, message.skill, setup)
            publish_images(turn.turn, read, setup)
            publish_resources(turn.turn, found, setup)
        keep_pending(turn, setup)
