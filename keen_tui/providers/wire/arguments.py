"""The arguments and ids of tool calls, for every API."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from keen_tui.domain.messages import ToolCall, ToolStep
from keen_tui.memory.projection import Part, PastStep

PROBLEM_LIMIT = 200
"""Characters of unusable arguments that are quoted back to the model."""

NAME_LIMIT = 64
"""Characters of a tool name that all APIs take."""

_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")


def parse_arguments(raw: str, *, cut_off: bool = False) -> tuple[dict[str, Any], str | None]:
    """The arguments of a call, and why they can't be used ("" if they can). Unusable arguments become {}.

    Empty text means no arguments, unless the reply was `cut_off` at a limit: then they are missing.
    """
    if not raw.strip():
        return {}, "the call was cut off before it was complete" if cut_off else None
    try:
        arguments = json.loads(raw, parse_constant=_refuse_constant)
        json.dumps(arguments, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        return {}, f"the arguments contain half a character (a lone surrogate): {_cut(raw)}"
    except json.JSONDecodeError as error:
        return {}, f"the arguments are not valid JSON ({error.msg} at character {error.pos}): {_cut(raw)}"
    except (ValueError, RecursionError) as error:
        return {}, f"the arguments can't be read ({error}): {_cut(raw)}"
    if not isinstance(arguments, dict):
        return {}, f"the arguments aren't a JSON object: {_cut(raw)}"
    return arguments, None


class UniqueIds:
    """Returns each tool call id once. `taken` are the ids in the request."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)

    def claim(self, call_id: str) -> str:
        """The id itself, or a new one if it is empty or taken."""
        unique = call_id if call_id and call_id not in self._taken else mint_id(self._taken)
        self._taken.add(unique)
        return unique


class ReplayedIds:
    """The ids of calls of finished turns. Each request begins like the one before it, so most ids are
    known."""

    def __init__(self) -> None:
        self._kept: tuple[tuple[Part, ...], frozenset[str]] = (), frozenset()

    def ids(self, parts: Sequence[Part]) -> frozenset[str]:
        """The ids in these parts. Parts that were read the last time cost next to nothing."""
        before, ids = self._kept
        if tuple(parts[: len(before)]) != before:
            before, ids = (), frozenset()
        steps = (part.step for part in parts[len(before) :] if isinstance(part, PastStep))
        if added := {call.id for step in steps for call, _ in step.calls}:
            last = max(place for place, part in enumerate(parts) if isinstance(part, PastStep))
            ids |= added
            self._kept = tuple(parts[: last + 1]), ids
        return ids


def mint_id(taken: Collection[str]) -> str:
    """A new id of nine letters and digits: the only form that every server takes (Mistral demands it)."""
    while (call_id := secrets.token_hex(5)[:9]) in taken:
        pass
    return call_id


def sendable_name(name: str) -> str:
    """A tool name in a form that every API takes back, even if the model made it up."""
    return _NO_NAME.sub("_", name)[:NAME_LIMIT] or "unnamed"


def sendable_calls(step: ToolStep) -> Iterator[tuple[ToolCall, str, str]]:
    """The calls of a finished turn's step, each with name and arguments as the APIs of OpenAI take them."""
    for call, _ in step.calls:
        yield call, sendable_name(call.name), json.dumps(call.arguments, ensure_ascii=False)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} isn't JSON")


def _cut(raw: str) -> str:
    return raw if len(raw) <= PROBLEM_LIMIT else raw[:PROBLEM_LIMIT] + "…"
