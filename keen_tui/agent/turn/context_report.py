"""The parts of the next request under each policy, made by the code that builds requests."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TypeVar

from msgspec import Struct

from keen_tui.agent.turn.cache_reuse import cache_reuse
from keen_tui.agent.turn.request import step_request
from keen_tui.agent.turn.request_size import Measured
from keen_tui.agent.turn.turn_setup import TurnSetup
from keen_tui.domain.choices import PolicyName
from keen_tui.domain.facts.skill_used import SkillUsed
from keen_tui.domain.messages import Message, NativeMessage, ToolCall, ToolResult, ToolStep
from keen_tui.domain.recorded import kept_out_bytes, recalled_bytes
from keen_tui.domain.reports import POLICIES, ContextKind, ContextPart, ContextReport, NextSizes, PartSize
from keen_tui.memory.conversation import Past
from keen_tui.memory.pending import PendingState, json_bytes, native_bytes
from keen_tui.memory.policies import policy_of
from keen_tui.memory.projection import AssistantText, NativeTrace, Part, PastStep, UserText
from keen_tui.providers.wire.images import ImageSize, image_sizes
from keen_tui.providers.wire.provider import StepRequest
from keen_tui.text.labels import image_line, resource_line, skill_line
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted, size

DRAFT_TURN = -1
"""The turn number that stands for what has not been sent yet."""


_IMAGE_DATA = r'("(?:url|image_url|data)": "(?:data:image/)?[A-Za-z0-9+/;,]{40})[A-Za-z0-9+/]{200,}=*'
"""A pattern that is compiled when somebody looks at such a request, and not at every start."""


class _ContextRow(Struct, frozen=True):
    """A row of the view under one policy; rows with the same key stand side by side."""

    kind: ContextKind
    turn: int
    text: str
    bytes: int
    left_out: str = ""
    includes: str = ""
    images: tuple[ImageSize, ...] = ()


def report(
    past: Past,
    pending: PendingState | None,
    draft: str,
    *,
    setup: TurnSetup,
    policy: PolicyName,
    window: int | None,
    bytes_per_token: float,
) -> ContextReport:
    """The next request under each policy. `draft` is the message to send, "" for none yet; the commands that
    the user ran go with it."""
    going = with_draft(past, draft)
    traces = pending.traces if pending else ()
    requests = [step_request(going, traces, policy_of(name), setup, setup.toolbox.specs) for name in POLICIES]

    def sized(row: _ContextRow) -> PartSize:
        tokens = Measured(row.bytes, row.images).tokens(bytes_per_token)
        return PartSize(
            text=row.text, bytes=row.bytes, tokens=tokens, left_out=row.left_out, includes=row.includes
        )

    columns = [_Column(request, setup, past) for request in requests]
    totals = [sized(column.total) for column in columns]
    keys = {key for column in columns for key in column.rows}
    keys.add(("draft", DRAFT_TURN))
    titles = _titles(going)
    parts = []
    for key in sorted(keys, key=_place):
        kind, turn = key
        rows = [column.rows.get(key) or _ContextRow(kind, turn, "", 0) for column in columns]
        sizes = [sized(row) for row in rows]
        title, label = _named(kind, turn, titles, pending, setup.instructions.label)
        if kind == "skills" and setup.toolbox.skills:
            label = counted(len(setup.toolbox.skills.by_name), "skill")
        if kind == "tools":
            label = f"{len(requests[POLICIES.index(policy)].tools)} tools"
        parts.append(ContextPart(kind=kind, title=title, label=label, sizes=_three(sizes), turn=turn))
    reuse = [
        cache_reuse(request, total.tokens, policy_of(name), setup, bytes_per_token)
        for name, request, total in zip(POLICIES, requests, totals, strict=True)
    ]
    return ContextReport(
        policy=policy, window=window, parts=tuple(parts), totals=_three(totals), reuse=_three(reuse)
    )


def next_sizes(past: Past, pending: PendingState | None, policy: PolicyName, setup: TurnSetup) -> NextSizes:
    """How large the next request is under the policy, and with the whole history. Blocks; the history is
    measured part by part, so that other threads can work in between."""
    going, traces = with_draft(past), pending.traces if pending else ()
    asked, whole = (
        step_request(going, traces, policy_of(name), setup, setup.toolbox.specs)
        for name in (policy, "full-trace")
    )
    size = len(setup.provider.encoded(asked))
    added = 0 if policy == "full-trace" else _pieces_bytes(whole, setup) - _pieces_bytes(asked, setup)
    is_summarised = bool(past.messages) and past.messages[0].by_program
    return NextSizes(next_bytes=size, whole_bytes=size + added, is_summarised=is_summarised)


def _pieces_bytes(request: StepRequest, setup: TurnSetup) -> int:
    """The bytes of what differs between policies: the system prompt, the tools, and each sent part."""
    tools = sum(
        json_bytes(tool.name + tool.description) + json_bytes(tool.parameters) for tool in request.tools
    )
    parts = sum(native_bytes(setup.provider.native(part)) for part in request.parts)
    return json_bytes(request.system) + tools + parts


Value = TypeVar("Value")


def _three(each: Sequence[Value]) -> tuple[Value, Value, Value]:
    summary, in_band, full_trace = each
    return summary, in_band, full_trace


_Key = tuple[ContextKind, int]
_ORDER: tuple[ContextKind, ...] = (
    "system", "skills", "instructions", "tools", "compacted", "turn", "pending", "draft", "frame",
)  # fmt: skip


def _place(key: _Key) -> tuple[int, int]:
    """First what stays the same, then each turn with its pending trace, then the draft and the frame."""
    kind, turn = key
    if kind in ("compacted", "turn", "pending"):
        return 2 * turn + (kind == "pending"), _ORDER.index(kind)
    return (-1 if kind in _ORDER[:4] else 2**62), _ORDER.index(kind)


class _Column:
    """The parts of one policy's request."""

    def __init__(self, request: StepRequest, setup: TurnSetup, past: Past) -> None:
        body = setup.provider.body(request)
        total = native_bytes((body,)) if body else 0
        images = image_sizes(request.parts, are_sent=setup.provider.takes_images)
        self.total = _ContextRow("frame", 0, "", total, images=tuple(images))
        self.rows: dict[_Key, _ContextRow] = {}
        compacted = {message.turn for message in past.messages[:1] if message.by_program}
        tools = body.get("tools") or ()
        instructions = setup.instructions.text
        skills = setup.skills
        own = _without(_without(request.system, instructions), skills)
        self._add("system", 0, own, json_bytes(own))
        if skills:
            self._add("skills", 0, skills, json_bytes(skills) - len('""'))
        if instructions:
            self._add("instructions", 0, instructions, json_bytes(instructions) - len('""'))
        self._add("tools", 0, json.dumps(tools, ensure_ascii=False, indent=2), native_bytes(tools))
        for turn, group in groupby(request.parts, key=lambda part: part.turn):
            kinds = dict(_kinds(turn, tuple(group), compacted))
            for kind, parts in kinds.items():
                size = sum(native_bytes(setup.provider.native(part)) for part in parts)
                left_out = _left_out(kind, parts, past, is_pending="pending" in kinds)
                images = image_sizes(parts, are_sent=setup.provider.takes_images)
                includes = _includes(parts, past)
                text = "\n\n".join(map(_readable, parts))
                self._add(kind, turn, text, size, left_out, includes, tuple(images))
        self._add("frame", 0, "", total - sum(row.bytes for row in self.rows.values()))

    def _add(
        self,
        kind: ContextKind,
        turn: int,
        text: str,
        size: int,
        left_out: str = "",
        includes: str = "",
        images: tuple[ImageSize, ...] = (),
    ) -> None:
        before = self.rows.get((kind, turn))
        if before:
            text, size, images = f"{before.text}\n\n{text}", before.bytes + size, before.images + images
        self.rows[kind, turn] = _ContextRow(kind, turn, text, size, left_out, includes, images)


def _without(text: str, part: str) -> str:
    """The text without the last place of a part that stands in lines of its own; "" takes nothing out."""
    before, found, behind = text.rpartition(part) if part else (text, "", "")
    return before + behind.removeprefix("\n") if found else text


def _kinds(
    turn: int, parts: Sequence[Part], compacted: set[int]
) -> Iterator[tuple[ContextKind, Sequence[Part]]]:
    kind: ContextKind = "draft" if turn == DRAFT_TURN else "compacted" if turn in compacted else "turn"
    if said := [part for part in parts if not isinstance(part, NativeTrace)]:
        yield kind, said
    if pending := [part for part in parts if isinstance(part, NativeTrace)]:
        yield "pending", pending


def _readable(part: Part) -> str:
    match part:
        case UserText(text=text, images=images):
            return "\n".join((f"› {text}", *map(image_line, images)))
        case AssistantText(text=text):
            return text
        case PastStep(step=step):
            return _readable_step(step)
        case NativeTrace(messages=messages):
            return "\n".join(_readable_message(message) for message in messages)


def _readable_message(message: NativeMessage) -> str:
    """The message as JSON, with only the beginning of each image."""
    return re.sub(_IMAGE_DATA, r"\1…", json.dumps(message, ensure_ascii=False, indent=2))


def _readable_step(step: ToolStep) -> str:
    calls = (
        f"{call.name} {json.dumps(call.arguments, ensure_ascii=False)}\n{result.text}"
        for call, result in step.calls
    )
    return "\n\n".join(filter(None, (step.text, *calls)))


def _left_out(kind: ContextKind, parts: Sequence[Part], past: Past, *, is_pending: bool) -> str:
    """Returns the parts of the turn that aren't sent, in words: its calls, and the skills and resources that
    it used, if the policy doesn't replay them."""
    turn = parts[0].turn
    if kind != "turn" or is_pending or any(isinstance(part, PastStep) for part in parts):
        return ""
    calls = [result for _, result in _results(past, turn)]
    total = sum(_result_bytes(result) for result in calls)
    plural = "s and their results" if len(calls) > 1 else " and its result"
    named = f"{len(calls)} call{plural}, {total / 1000:.1f} kB" if calls else ""
    attached = _attached(past, parts, are_sent=False)
    kept_out = sum(map(kept_out_bytes, calls))
    of_agents = f"{size(kept_out)} stayed with sub-agents" if kept_out else ""
    return ", ".join(filter(None, (named, of_agents, _recalled(_results(past, turn)), *attached)))


def _attached(past: Past, parts: Sequence[Part], *, are_sent: bool) -> list[str]:
    """The skills and resources that the user named in the turn, whose text is sent or isn't:
    `skill pdf, 4.2 kB`."""
    said = "\n".join(part.text for part in parts if isinstance(part, UserText))
    messages = [each for each in past.messages if each.turn == parts[0].turn]
    skills = ((each.skill.text, skill_line(each.skill)) for each in messages if each.skill)
    resources = ((one.text, resource_line(one)) for each in messages for one in each.resources)
    return [line for text, line in (*skills, *resources) if (text in said) is are_sent]


def _includes(parts: Sequence[Part], past: Past) -> str:
    """Returns the contents of the sent results: `0.4 kB recalled, api/AGENTS.md (1.2 kB)`."""
    turn = parts[0].turn
    if not any(isinstance(part, PastStep | NativeTrace) for part in parts):
        return ", ".join(_attached(past, parts, are_sent=True))
    results = _results(past, turn)
    files = (file for _, result in results for file in result.instructions)
    named = (f"{file.name} ({size(file.bytes)})" for file in files)
    loaded = (
        f"skill {clean(fact.name)}, {size(fact.bytes)}"
        for _, result in results
        for fact in result.facts
        if isinstance(fact, SkillUsed)
    )
    return ", ".join(filter(None, (_recalled(results), *loaded, *named)))


def _results(past: Past, turn: int) -> list[tuple[ToolCall, ToolResult]]:
    return [pair for step in past.steps.get(turn, ()) for pair in step.calls]


def _recalled(results: Iterable[tuple[ToolCall, ToolResult]]) -> str:
    """`1.2 kB recalled`, "" for nothing."""
    total = sum(recalled_bytes(call.name, result) for call, result in results)
    return f"{size(total)} recalled" if total else ""


def _result_bytes(result: ToolResult) -> int:
    return len(result.text.encode("utf-8", "replace"))


def with_draft(past: Past, draft: str = "") -> Past:
    """The past with the message to send, "" for none; the commands that the user ran go with it."""
    if not (draft.strip() or past.ran):
        return past
    message = Message(role="user", text=draft, turn=DRAFT_TURN, ran=past.ran)
    return Past((*past.messages, message), past.steps)


def _named(
    kind: ContextKind, turn: int, titles: Mapping[int, str], pending: PendingState | None, instructions: str
) -> tuple[str, str]:
    """The title and the label of a row."""
    match kind:
        case "system":
            return "system prompt", ""
        case "skills":
            return "skills", ""
        case "instructions":
            return "instructions", instructions
        case "tools":
            return "tool definitions", ""
        case "compacted":
            return "compacted", f"turns up to {turn}, summarised"
        case "pending":
            calls = pending.calls if pending else 0
            return "pending", f"{calls} call{'' if calls == 1 else 's'}, kept"
        case "draft":
            return "your draft", titles.get(turn, "empty")
        case "frame":
            return "frame", "JSON around the messages"
    return f"turn {turn}", titles.get(turn, "")


def _titles(past: Past) -> dict[int, str]:
    """The first line of each turn's first message, by turn."""
    titles: dict[int, str] = {}
    for message in past.messages:
        if message.role == "user" and not message.by_program:
            titles.setdefault(message.turn, _title(message))
    return titles


def _title(message: Message) -> str:
    words = message.text.strip().split("\n", 1)[0]
    return words or ", ".join(f"!{run.command}" for run in message.ran)
