"""A server's questions to the user (elicitation): a form, field by field, or an address to open."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import Struct

from keen_tui.domain.events import AnswerChoice
from keen_tui.domain.messages import ToolResult
from keen_tui.system.browser import open_in_browser
from keen_tui.system.time_limit import TimeLimit
from keen_tui.text.sanitize import clean
from keen_tui.tools.calls.question_spec import Person, QuestionReply, QuestionSpec

_MOST_FIELDS: Final = 20
_MOST_CHOICES: Final = 50
_LONGEST: Final = 300
_LONGEST_MESSAGE: Final = 2_000
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")

_Answer = Mapping[str, Any]
_DECLINE: Final[_Answer] = {"action": "decline"}
_CANCEL: Final[_Answer] = {"action": "cancel"}


async def nobody(_: QuestionSpec) -> QuestionReply:
    """The reply if there is nobody to ask."""
    return QuestionReply(nobody=True)


class Asking:
    """Asks the user what a server wants to know while one of its calls runs. Set `person`, which asks, before
    the call runs.

    Args:
        server: the server's name in the questions.
        limit: the call's time limit, which pauses during a question.
        open_page: opens a page in the browser; returns whether a browser was started.
    """

    def __init__(
        self, server: str, limit: TimeLimit, open_page: Callable[[str], bool] = open_in_browser
    ) -> None:
        self.person: Person = nobody
        self.declined = ""
        """Why a question was declined, as a sentence for the model; "" if none was declined."""
        self._server = server
        self._open_page = open_page
        self.limit = limit
        self._turn = asyncio.Lock()
        self._open: asyncio.Task[_Answer] | None = None
        self._closed = False

    async def ask(self, asked: Mapping[str, Any]) -> _Answer:
        """Answer an elicitation request. Both are JSON objects of the protocol."""
        async with self._turn:
            if self._closed:
                return _CANCEL
            with self.limit.standing():
                self._open = asyncio.create_task(self._asked(asked))
                try:
                    await asyncio.wait({self._open})
                except asyncio.CancelledError:
                    self._open.cancel()
                    await asyncio.wait({self._open})
                    raise
                if self._open.cancelled():
                    return _CANCEL
                return self._open.result()

    def close(self) -> None:
        """Withdraw an open question, as the call has ended."""
        self._closed = True
        if self._open:
            self._open.cancel()

    async def _asked(self, asked: Mapping[str, Any]) -> _Answer:
        try:
            return await (self._address(asked) if asked.get("mode") == "url" else self._form(asked))
        except (AttributeError, TypeError, ValueError):
            self.declined = "The server asked a question that Keen can't read, so it was declined."
            return _DECLINE

    async def _form(self, asked: Mapping[str, Any]) -> _Answer:
        schema = asked.get("requestedSchema") or {}
        properties = schema.get("properties") if isinstance(schema, Mapping) else None
        fields = list(properties.items()) if isinstance(properties, Mapping) else []
        if len(fields) > _MOST_FIELDS:
            self.declined = f"The server asked for {len(fields)} values at once; Keen asks for at most 20."
            return _DECLINE
        required = set(schema.get("required") or ())
        message = _message(asked)
        if not fields:
            return await self._confirmed(message)
        content: dict[str, Any] = {}
        for number, (name, field) in enumerate(fields, 1):
            field = field if isinstance(field, Mapping) else {}
            place = f" ({number} of {len(fields)})" if len(fields) > 1 else ""
            title = f"The MCP server {self._server} asks for {_short(field.get('title') or name)}{place}:"
            reply = await self._field(title, message, field, is_required=name in required)
            if reply is None:
                return _DECLINE
            if reply.given:
                content[name] = reply.value
        return {"action": "accept", "content": content}

    async def _confirmed(self, message: str) -> _Answer:
        choices = (AnswerChoice(label="yes"), AnswerChoice(label="no"))
        reply = await self._put(f"The MCP server {self._server} asks you to confirm:", message, choices)
        return {"action": "accept", "content": {}} if reply and reply.choice == 0 else _DECLINE

    async def _field(
        self, title: str, message: str, field: Mapping[str, Any], *, is_required: bool
    ) -> _FieldValue | None:
        """The value of a field; None if the user declines."""
        options = _options(field)
        default = field.get("default")
        choices = [AnswerChoice(label=_short(label)) for label, _ in options]
        if not options:
            choices.append(AnswerChoice(label="answer", consequence=_hint(field), wants_words=True))
        if default is not None:
            choices.append(AnswerChoice(label=f"use {_short(default)}", consequence="the server's default"))
        elif not is_required:
            choices.append(AnswerChoice(label="leave it out"))
        problem = ""
        while True:
            body = "\n\n".join(filter(None, (message, _quoted(field.get("description")), problem)))
            reply = await self._put(title, body, tuple(choices))
            if reply is None or reply.choice is None:
                return None
            if reply.choice < len(options):
                return _FieldValue(options[reply.choice][1])
            if options or reply.choice > 0:
                return _FieldValue(default) if default is not None else _FieldValue(None, given=False)
            try:
                return _FieldValue(_converted(field, reply.words))
            except ValueError as error:
                problem = f"That doesn't fit: {error}."

    async def _address(self, asked: Mapping[str, Any]) -> _Answer:
        """Ask the user to open an address. Keen doesn't see what they do there."""
        url = clean(str(asked.get("url", "")))
        host = urlsplit(url).hostname if url.startswith(("https://", "http://")) else None
        if not host or " " in url or len(url) > _LONGEST_MESSAGE:
            self.declined = "The server asked to open something that isn't a web address."
            return _DECLINE
        title = f"The MCP server {self._server} asks you to open a page at {_short(host)}:"
        choices = (
            AnswerChoice(label="open it", consequence="in your browser"),
            AnswerChoice(label="continue", consequence="you opened it yourself"),
        )
        body = f"{_message(asked)}\n\n```\n{url.replace('`', '%60')}\n```"
        reply = await self._put(title, body, choices)
        if reply and reply.choice == 0 and not await asyncio.to_thread(self._open_page, url):
            body = f"{body}\n\nNo browser can be opened here. Open the page yourself."
            reply = await self._put(title, body, choices[1:])
        return _DECLINE if reply is None else {"action": "accept"}

    async def _put(self, title: str, body: str, choices: tuple[AnswerChoice, ...]) -> QuestionReply | None:
        """The user's reply; None if they decline or there is nobody to ask."""
        spec = QuestionSpec(question=title, choices=choices, result=_no_result, body=body)
        reply = await self.person(spec)
        if reply.nobody:
            self.declined = "The server asked the user a question, but there is nobody to ask: declined."
            return None
        if reply.choice is None:
            self.declined = "The server asked the user a question, and the user declined."
            return None
        return reply


class _FieldValue(Struct, frozen=True):
    value: Any
    given: bool = True


def _no_result(_: QuestionReply) -> ToolResult:
    raise AssertionError("the server gets the answer")


def _message(asked: Mapping[str, Any]) -> str:
    return _quoted(asked.get("message"))


def _quoted(text: object) -> str:
    """The server's text as a quotation, so that it can't pass for Keen's own words."""
    words = clean(str(text or ""), newlines=True).strip()[:_LONGEST_MESSAGE]
    if not words:
        return ""
    fence = "`" * (1 + max(2, *map(len, re.findall("`+", words) or [""])))
    return f"{fence}\n{words}\n{fence}"


def _short(text: object) -> str:
    return clean(str(text)).strip()[:_LONGEST]


def _options(field: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The answers to choose from, with their values; none if the user types the value."""
    if field.get("type") == "boolean":
        return [("yes", True), ("no", False)]
    one_of = field.get("oneOf")
    if isinstance(one_of, list):
        pairs = [(each.get("title") or each.get("const"), each.get("const")) for each in one_of if each]
        return [(str(label), value) for label, value in pairs][:_MOST_CHOICES]
    values = field.get("enum")
    if isinstance(values, list):
        labels = field.get("enumNames")
        named = labels if isinstance(labels, list) and len(labels) == len(values) else values
        return [(str(label), value) for label, value in zip(named, values, strict=True)][:_MOST_CHOICES]
    return []


def _hint(field: Mapping[str, Any]) -> str:
    match field.get("type"):
        case "integer":
            return "a whole number"
        case "number":
            return "a number"
        case "array":
            return f"one or more of {', '.join(_several(field))}, separated by commas"
    return {"email": "an e-mail address", "uri": "an address", "date": "a date such as 2026-01-31"}.get(
        str(field.get("format")), "in your own words"
    )


def _several(field: Mapping[str, Any]) -> list[str]:
    items = field.get("items")
    items = items if isinstance(items, Mapping) else {}
    found = items.get("enum") or [
        each.get("const") for each in items.get("anyOf") or items.get("oneOf") or ()
    ]
    return [str(each) for each in found]


def _converted(field: Mapping[str, Any], words: str) -> Any:
    """The typed text as a value. Raises ValueError with the reason why it doesn't fit."""
    match field.get("type"):
        case "integer" | "number" as kind:
            return _number(field, words, whole=kind == "integer")
        case "array":
            allowed = _several(field)
            chosen = [each.strip() for each in words.split(",") if each.strip()]
            if unknown := [each for each in chosen if allowed and each not in allowed]:
                raise ValueError(f"{unknown[0]} isn't one of {', '.join(allowed)}")
            return chosen
    least, most = field.get("minLength"), field.get("maxLength")
    if isinstance(least, int) and len(words) < least:
        raise ValueError(f"it needs at least {least} characters")
    if isinstance(most, int) and len(words) > most:
        raise ValueError(f"it may have at most {most} characters")
    if field.get("format") == "email" and not _EMAIL.fullmatch(words):
        raise ValueError("it isn't an e-mail address")
    return words


def _number(field: Mapping[str, Any], words: str, *, whole: bool) -> int | float:
    try:
        value = int(words) if whole else float(words)
    except ValueError:
        raise ValueError("it isn't a whole number" if whole else "it isn't a number") from None
    if not math.isfinite(value):
        raise ValueError("it isn't a number")
    least, most = field.get("minimum"), field.get("maximum")
    if isinstance(least, int | float) and value < least:
        raise ValueError(f"it must be at least {least}")
    if isinstance(most, int | float) and value > most:
        raise ValueError(f"it must be at most {most}")
    return value
