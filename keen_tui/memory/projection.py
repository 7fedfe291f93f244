"""The parts of a request after the system prompt: the conversation under a policy, with native traces.

Every provider builds its requests from these parts, so all send the same text. Same input, same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, zip_longest
from typing import NamedTuple

from msgspec import Struct

from keen_tui.domain.messages import Image, Message, NativeMessage, ToolStep
from keen_tui.memory.conversation import Past
from keen_tui.memory.pending import PendingTrace
from keen_tui.memory.policies import MemoryPolicy
from keen_tui.memory.rendering import render_user


class UserText(Struct, frozen=True):
    """`images` are those that the text names, in that order, followed by those of resources."""

    text: str
    turn: int = 0
    images: tuple[Image, ...] = ()


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


class _Projected(NamedTuple):
    """The projection of messages up to a reply under a policy."""

    messages: tuple[Message, ...] = ()
    policy: MemoryPolicy | None = None
    parts: tuple[Part, ...] = ()


class Projector:
    """Projects one past after another, where each mostly extends the one before.

    The parts of finished turns are built once, and the same objects are reused. May be used in several
    threads: each extends a whole past, of one request or another.
    """

    def __init__(self) -> None:
        self._kept = _Projected()

    def project(self, past: Past, traces: Iterable[PendingTrace], policy: MemoryPolicy) -> list[Part]:
        """The parts in order. All pasts MUST be of one session.

        Each trace follows the user message of its turn (turn.md rule 1), and so do the steps of a finished
        turn if the policy replays them. Adjacent texts of one role are joined, as the chat templates of many
        local models require; an assistant message that is empty after rendering is left out. The text of a
        skill that a message calls, and the resources that it names, are sent until that is answered, unless
        the policy carries them.
        """
        behind = _by_turn(traces)
        answered = _answered(past.messages, behind)
        kept = self._kept
        length = len(kept.messages)
        if policy is not kept.policy or length > answered or past.messages[:length] != kept.messages:
            kept, length = _Projected(policy=policy), 0
        parts = list(kept.parts)
        if length < answered:
            _project_on(parts, past, length, answered, behind, policy)
            self._kept = _Projected(past.messages[:answered], policy, tuple(parts))
        _project_on(parts, past, answered, len(past.messages), behind, policy)
        return parts


Traces = Mapping[int, tuple[NativeMessage, ...]]


def _by_turn(traces: Iterable[PendingTrace]) -> Traces:
    return {trace.turn: trace.messages for trace in traces if trace.messages}


def _answered(messages: Sequence[Message], behind: Traces) -> int:
    """The number of messages up to the last reply without a trace before it."""
    traced = (place for place, message in enumerate(messages) if message.turn in behind) if behind else ()
    end = next(iter(traced), len(messages))
    return next((place for place in range(end, 0, -1) if messages[place - 1].role == "assistant"), 0)


def _project_on(
    parts: list[Part], past: Past, start: int, end: int, behind: Traces, policy: MemoryPolicy
) -> None:
    """Add the messages from `start` up to `end`. Where a projection begins anew, a reply stands before."""
    replayed: list[ToolStep] = []
    unanswered_from = _answered(past.messages, {})
    pairs = zip_longest(islice(past.messages, start, end), islice(past.messages, start + 1, end))
    for place, (message, following) in enumerate(pairs, start):
        if message.role == "assistant":
            _add_reply(parts, message, policy.reply(message, replayed))
            replayed = []
            continue
        whole = policy.carries_additions or place >= unanswered_from
        _add_user_text(parts, message, whole=whole)
        if native := behind.get(message.turn):
            parts.append(NativeTrace(native, message.turn))
        elif not _goes_on(message, following):
            done = past.steps.get(message.turn, ()) if policy.replays else ()
            steps = policy.replayed(done, message.turn)
            parts += (PastStep(step, message.turn) for step in steps)
            replayed += steps


def _goes_on(message: Message, following: Message | None) -> bool:
    """Whether the user's next message steered the same turn: its steps follow the last one."""
    return following is not None and following.role == "user" and following.turn == message.turn


def _add_reply(parts: list[Part], message: Message, text: str) -> None:
    last = parts[-1] if parts else None
    if text.strip() and isinstance(last, AssistantText):
        parts[-1] = AssistantText(f"{last.text}\n\n{text}", last.turn)
    elif text.strip():
        parts.append(AssistantText(text, message.turn))


def _add_user_text(parts: list[Part], message: Message, *, whole: bool) -> None:
    last, text = parts[-1] if parts else None, render_user(message, whole=whole)
    images = sent_images(message) if whole else message.images
    if isinstance(last, UserText):
        parts[-1] = UserText(f"{last.text}\n\n{text}", message.turn, last.images + images)
    else:
        parts.append(UserText(text, message.turn, images))


def sent_images(message: Message) -> tuple[Image, ...]:
    """The images that go with a message until its turn is done: its own and those of its resources."""
    return (*message.images, *(image for each in message.resources for image in each.images))
