"""A session as JSON, for other programs. One object, its keys always in this order:

- `format`: "keen-tui-session"; `version`: 1. A change that readers must know of raises the version.
- `session`: `id`, `title`, `workspace`, `began` (ISO 8601, UTC), `model`.
- `turns`: one object a turn with `turn` (its number), `state` (done, incomplete, continued, failed,
  abandoned, unfinished) and `cost` (US dollars; null: not known).
- `messages`: all that was said, those that a later summary replaced included. `role` (user, assistant),
  `text`, `turn`, `memory` (null, or the fields of TurnMemory, as the page of Python types lists them), `raw`
  (the text as the model wrote it, where a block was taken out of it, else null), `by_program` (true for what
  no model said), `ran` (what the user ran before the message, and the model was told with it: `command` and
  `text`), `images` (`name`, `media_type`, `width` and `height` in pixels, `content` in base64).
- `activity`: what happened, in order, each with its `type` and `turn`: `text` and `reasoning` (`step`,
  `text`, `carried`: false for text that was cut, `seconds` of reasoning), and the events `tool_finished`,
  `tool_started` (a call without a result), `web_searched`, `notice`, `turn_done`, `turn_incomplete`,
  `turn_error`, `turn_abandoned`, `turn_undone`, `compacted`, `shell_finished` (a command
  that the user ran), `model_changed` and `policy_changed` with the fields that
  `--output stream-json` prints; the two last belong to no turn. `images_attached` names its `images`,
  `skill_called` the skill that the message before it calls, and `resources_attached` the `resources` of MCP
  servers that it names, each with `server`, `uri` and `bytes`.

Characters that can't be seen stand as `\\u` escapes: the text is safe to print and nothing is lost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Final

from msgspec import to_builtins

from keen_tui.domain.event_records import as_record, as_told
from keen_tui.domain.events import Compacted, Event, MemoryEdited
from keen_tui.domain.messages import Message, TurnMemory
from keen_tui.export.document import ExportedCall, ExportedItem, ExportedSession, ExportedText, Thought, Turn
from keen_tui.memory.conversation import Conversation

VERSION: Final = 1
_UNUSUAL = re.compile(r"[^ -~\n]")


def write_json(document: ExportedSession, events: Iterable[Event]) -> str:
    """The document of these events as an indented JSON object."""
    record = {
        "format": "keen-tui-session",
        "version": VERSION,
        "session": _session(document),
        "turns": [
            {"turn": turn.number, "state": turn.state, "cost": turn.spent.cost} for turn in document.turns
        ],
        "messages": [_message(message) for message in _messages(events)],
        "activity": [_activity(item, number) for number, item in _items(document)],
    }
    return _UNUSUAL.sub(_escaped, json.dumps(record, ensure_ascii=False, indent=1)) + "\n"


def _session(document: ExportedSession) -> dict[str, Any]:
    return {
        "id": document.session_id,
        "title": document.title,
        "workspace": document.workspace,
        "began": datetime.fromtimestamp(document.began, UTC).isoformat(timespec="seconds"),
        "model": document.model,
    }


def _messages(events: Iterable[Event]) -> tuple[Message, ...]:
    """The conversation without its summaries. A memory that was edited after one is that of the summary."""
    conversation, summarised = Conversation(), 0
    for event in events:
        match event:
            case Compacted():
                summarised = event.turn
            case MemoryEdited() if event.turn <= summarised:
                pass
            case _:
                conversation.take(event, packs=False)
    return conversation.messages


def _message(message: Message) -> dict[str, Any]:
    return {
        "role": message.role,
        "text": message.text,
        "turn": message.turn,
        "memory": _memory(message.memory) if message.memory else None,
        "raw": message.raw,
        "by_program": message.by_program,
        "ran": [{"command": run.command, "text": run.text} for run in message.ran],
        "images": to_builtins(message.images),
    }


def _memory(memory: TurnMemory) -> dict[str, Any]:
    """The fields of TurnMemory. Each fact is as in events, but for its kind, which its field says."""
    fields: dict[str, Any] = to_builtins(memory)
    for facts in fields.values():
        for fact in facts if isinstance(facts, list | tuple) else ():
            if isinstance(fact, dict):
                fact.pop("kind", None)
    return fields


def _items(document: ExportedSession) -> Iterator[tuple[int, ExportedItem]]:
    """All items in order, each with the number of its turn, 0 between turns."""
    for part in document.parts:
        if isinstance(part, Turn):
            yield from ((part.number, item) for item in part.items)
        else:
            yield 0, part


def _activity(item: ExportedItem, turn: int) -> dict[str, Any]:
    match item:
        case ExportedText():
            return {
                "type": "text",
                "turn": turn,
                "step": item.step,
                "text": item.text,
                "carried": not item.lost,
            }
        case Thought():
            return {
                "type": "reasoning",
                "turn": turn,
                "step": item.step,
                "text": item.text,
                "carried": not item.lost,
                "seconds": item.seconds,
            }
        case ExportedCall():
            return as_record(item.finished or item.started)
        case _:
            return as_told(item)


def _escaped(match: re.Match[str]) -> str:
    return match[0] if match[0].isprintable() else json.dumps(match[0])[1:-1]
