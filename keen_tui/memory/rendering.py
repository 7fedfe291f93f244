"""How the conversation looks at the provider boundary: the one place where TurnMemory becomes text.

Every provider builds its requests from `project`, so all send the same words. Same input, same bytes.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from keen_tui.memory.pending import PendingTrace
from keen_tui.messages import CommandFailed, Message, NativeMessage, TurnMemory

ABANDONED = "(turn abandoned)"
"""Text of the assistant message that stands for discarded work (turn.md rule 8)."""

COMMAND_LIMIT = 200
"""Characters of a command that are rendered; the rest becomes an ellipsis."""


@dataclass(frozen=True, slots=True)
class UserText:
    text: str


@dataclass(frozen=True, slots=True)
class AssistantText:
    text: str


@dataclass(frozen=True, slots=True)
class NativeTrace:
    """Provider-native messages, to be sent as they are."""

    messages: tuple[NativeMessage, ...]


Part = UserText | AssistantText | NativeTrace


def render_assistant(text: str, memory: TurnMemory | None) -> str:
    """The assistant's text with its TurnMemory behind it, as later requests carry it."""
    if not memory:
        return text
    return f"{text}\n\n{_memory_block(memory)}" if text else _memory_block(memory)


def project(conversation: Sequence[Message], traces: Iterable[PendingTrace] = ()) -> list[Part]:
    """What a request holds behind the system prompt, in order.

    Each trace stands behind the user message of its turn (turn.md rule 1). Adjacent user texts become
    one; an assistant message that is blank after rendering is left out.
    """
    behind = {trace.turn: trace for trace in traces}
    parts: list[Part] = []
    for message in conversation:
        if message.role == "user":
            _add_user_text(parts, message.text)
            trace = behind.get(message.turn)
            if trace and trace.messages:
                parts.append(NativeTrace(trace.messages))
        else:
            rendered = render_assistant(message.text, message.memory)
            if rendered.strip():
                parts.append(AssistantText(rendered))
    return parts


def _add_user_text(parts: list[Part], text: str) -> None:
    if parts and isinstance(parts[-1], UserText):
        parts[-1] = UserText(f"{parts[-1].text}\n\n{text}")
    else:
        parts.append(UserText(text))


def _memory_block(memory: TurnMemory) -> str:
    return "\n".join(("Tool memory:", *_memory_lines(memory)))


def _memory_lines(memory: TurnMemory) -> Iterator[str]:
    if memory.files_changed:
        yield "- Files changed: " + ", ".join(_quoted_path(path) for path in memory.files_changed)
    for failed in memory.failed_bash:
        yield f"- Failed bash: {_quoted_command(failed)} (exit {failed.exit_code})"


def _quoted_path(path: str) -> str:
    return json.dumps(path) if "," in path or _breaks_line(path) else path


def _quoted_command(failed: CommandFailed) -> str:
    command = failed.command
    if len(command) > COMMAND_LIMIT:
        command = command[:COMMAND_LIMIT] + "…"
    return json.dumps(command) if _breaks_line(command) else command


def _breaks_line(text: str) -> bool:
    """True for control characters and the line breaks that Unicode knows besides them."""
    return any(unicodedata.category(char) in ("Cc", "Zl", "Zp", "Cs") for char in text)
