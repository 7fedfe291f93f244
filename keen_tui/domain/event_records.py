"""Events as JSON objects: as session files hold them, and as the reader of a turn gets them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from msgspec import to_builtins

from keen_tui.domain.events import (
    AgentEvent,
    Event,
    ImagesAttached,
    ResourcesAttached,
    ShellFinished,
    SkillCalled,
    ToolFinished,
    Usage,
)

LAID_FLAT: Mapping[type, str] = {ToolFinished: "result", ShellFinished: "result", Usage: "tokens"}
"""Fields whose own fields are flattened into the record of an event."""


def as_record(event: Event) -> dict[str, Any]:
    """The event as a JSON object: its fields after `type`; a tool result and token counts are flattened into
    it."""
    record = {"type": event_type(type(event)), **to_builtins(event)}
    flat = LAID_FLAT.get(type(event))
    return record | record.pop(flat) if flat else record


def as_told(event: Event) -> dict[str, Any]:
    """The event as a JSON object for the reader of a turn: images, skills and resources by name only, and an
    event of a sub-agent as that event, with `agent` and the `call` that began it."""
    if isinstance(event, SkillCalled):
        named = {"name": event.skill.name, "bytes": event.skill.bytes}
        return {"type": event_type(SkillCalled), "turn": event.turn, "skill": named}
    if isinstance(event, ResourcesAttached):
        read = [{"server": each.server, "uri": each.uri, "bytes": each.bytes} for each in event.resources]
        return {"type": event_type(ResourcesAttached), "turn": event.turn, "resources": read}
    if isinstance(event, AgentEvent):
        return as_told(event.event) | {"turn": event.turn, "agent": event.agent, "call": event.id}
    if isinstance(event, ImagesAttached):
        names = [image.name for image in event.images]
        return {"type": event_type(ImagesAttached), "turn": event.turn, "images": names}
    return as_record(event)


@cache
def event_type(kind: type[Event]) -> str:
    """`TurnStarted` -> `turn_started`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()
