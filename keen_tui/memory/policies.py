"""Memory policies: how much of a finished turn later turns get. Nothing else depends on the policy.

`summary` sends the visible text with the rendered TurnMemory, `in-band` the text as the model wrote it with
its own block, `full-trace` also the tool calls and results. Messages that the program wrote (abandoned,
undone, compacted) carry their TurnMemory under all of them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Protocol

from msgspec.structs import replace

from keen_tui.domain.choices import PolicyName
from keen_tui.domain.messages import Message, ToolCall, ToolResult, ToolStep
from keen_tui.domain.recorded import RECALL
from keen_tui.memory.inband import IN_BAND_PROMPT, InBandFilter
from keen_tui.memory.rendering import render_assistant

RESULT_LIMIT = 16_384
"""The most bytes of a tool result that `full-trace` replays."""

RECALL_PROMPT = (
    f"- {RECALL} shows what the calls of earlier turns returned, word for word, without running anything."
)
"""The item of the system prompt's list that names the tool."""

_NOTE_ROOM = 64
"""Bytes of these reserved for the note about the part left out."""


class TextFilter(Protocol):
    """Filters the text on its way from the model to the bus: passes on the visible part."""

    def feed(self, text: str) -> str:
        """The visible part of the text so far that was not passed on yet."""

    def finish(self) -> str:
        """The rest, once no more text comes."""


class MemoryPolicy(Protocol):
    """Decides what later turns get of a finished turn."""

    @property
    def name(self) -> PolicyName:
        """The name in the settings."""

    @property
    def instructions(self) -> str:
        """An item of the system prompt's list of what the model remembers: `- ...`."""

    @property
    def recalls(self) -> bool:
        """Whether the model gets the tool `recall`: it doesn't if it sees all earlier results anyway."""

    @property
    def replays(self) -> bool:
        """Whether `replayed` sends any steps. If not, nobody needs to unpack them."""

    @property
    def carries_additions(self) -> bool:
        """Whether later turns get what went with a message of the user: the skill that it called, and what
        hooks added."""

    def filter(self) -> TextFilter:
        """A filter for the text of one step."""

    def reply(self, message: Message, steps: Sequence[ToolStep]) -> str:
        """An assistant message as text; `steps` are those of its turns that `replayed` sends."""

    def replayed(self, steps: Sequence[ToolStep], turn: int) -> Sequence[ToolStep]:
        """The steps of a finished turn that are sent behind its user message."""


class Summary:
    """Visible text and rendered TurnMemory."""

    name: PolicyName = "summary"
    instructions = f"- You see only the messages of earlier turns.\n{RECALL_PROMPT}"
    recalls = True
    replays = False
    carries_additions = False

    def filter(self) -> TextFilter:
        return _Unfiltered()

    def reply(self, message: Message, steps: Sequence[ToolStep]) -> str:
        return render_assistant(message.text, message.memory)

    def replayed(self, steps: Sequence[ToolStep], turn: int) -> Sequence[ToolStep]:
        return ()


class InBand:
    """The text as the model wrote it, with the block that it was asked for."""

    name: PolicyName = "in-band"
    instructions = f"{IN_BAND_PROMPT}{RECALL_PROMPT}"
    recalls = True
    replays = False
    carries_additions = False

    def filter(self) -> TextFilter:
        return InBandFilter()

    def reply(self, message: Message, steps: Sequence[ToolStep]) -> str:
        if message.by_program:
            return render_assistant(message.text, message.memory)
        return message.text if message.raw is None else message.raw

    def replayed(self, steps: Sequence[ToolStep], turn: int) -> Sequence[ToolStep]:
        return ()


class FullTrace:
    """Every call and result, with bounded results and new ids; what they show isn't rendered again."""

    name: PolicyName = "full-trace"
    instructions = "- You see the calls of earlier turns as they were then, with long results cut."
    recalls = False
    replays = True
    carries_additions = True

    def filter(self) -> TextFilter:
        return _Unfiltered()

    def reply(self, message: Message, steps: Sequence[ToolStep]) -> str:
        if message.by_program:
            return render_assistant(message.text, message.memory)
        said = "\n\n".join(step.text for step in steps if step.text.strip())
        rest = message.text[len(said) :] if message.text.startswith(said) else message.text
        return rest.lstrip("\n")

    def replayed(self, steps: Sequence[ToolStep], turn: int) -> Sequence[ToolStep]:
        numbers = iter(range(1, sum(len(step.calls) for step in steps) + 1))
        return tuple(
            replace(step, calls=tuple(_bounded(*pair, _id(turn, next(numbers))) for pair in step.calls))
            for step in steps
        )


class _Unfiltered:
    def feed(self, text: str) -> str:
        return text

    def finish(self) -> str:
        return ""


def policy_of(name: PolicyName) -> MemoryPolicy:
    """The policy of that name."""
    return _POLICIES[name]


_POLICIES: dict[PolicyName, MemoryPolicy] = {
    policy.name: policy for policy in (Summary(), InBand(), FullTrace())
}


def _id(turn: int, number: int) -> str:
    """The id of a replayed call: the same in every request, and nine letters and digits, as every server
    accepts them."""
    return f"p{turn % 16**4:04x}{number % 16**4:04x}"


def _bounded(call: ToolCall, result: ToolResult, call_id: str) -> tuple[ToolCall, ToolResult]:
    return replace(call, id=call_id), replace(result, text=_cut(result.text), display=None)


def _cut(text: str) -> str:
    data = text.encode("utf-8", "replace")
    if len(data) <= RESULT_LIMIT:
        return text
    half = (RESULT_LIMIT - _NOTE_ROOM) // 2
    head, tail = (piece.decode("utf-8", "ignore") for piece in (data[:half], data[-half:]))
    left_out = len(data) - len(head.encode()) - len(tail.encode())
    return f"{head}\n[{left_out:,} bytes left out]\n{tail}"


def carried_bytes(policy: MemoryPolicy, message: Message, steps: Sequence[ToolStep]) -> int:
    """Bytes that later requests carry of a finished turn: the text of its reply, `message`, and the calls and
    results of its `steps` as far as the policy replays them. JSON around them doesn't count."""
    replayed = policy.replayed(steps, message.turn)
    texts = [policy.reply(message, replayed)]
    for step in replayed:
        texts.append(step.text)
        for call, result in step.calls:
            texts += (call.name, json.dumps(call.arguments, ensure_ascii=False), result.text)
    return sum(len(text.encode("utf-8", "replace")) for text in texts)


def visible(policy: MemoryPolicy, text: str) -> str:
    """The visible part of a whole text."""
    passing = policy.filter()
    return passing.feed(text) + passing.finish()
