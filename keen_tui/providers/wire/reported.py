"""Turns the errors of providers, a status and a JSON body, into our own exceptions.

It handles HTTP errors as well as error objects inside a stream, for every API.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from keen_tui.domain.errors import AuthFailed, ContextExceeded, ProviderError, RequestRefused, ServerBusy
from keen_tui.providers.wire.json_fields import object_of, objects_of, text_of
from keen_tui.providers.wire.wire_text import mended

_CONTEXT_CODES = {"context_length_exceeded", "exceed_context_size_error", "request_too_large"}
_CONTEXT_WORDS = re.compile(
    r"context[ _](length|window|size|limit)|maximum (context|prompt) length|(prompt|input) is too long"
    r"|input token count .* exceeds|exceeds? the maximum number of tokens",
    re.IGNORECASE,
)
_KEY_WORDS = re.compile(
    r"api[ _-]?key (is )?(not valid|invalid|incorrect|expired|not found)"
    r"|(invalid|incorrect|expired|malformed) api[ _-]?key|API_KEY_INVALID",
    re.IGNORECASE,
)
"""How servers that answer 400 say that they refuse the key (Google, xAI)."""

_NOTHING_FOUND = re.compile(
    r"(404)?[ :]*(page |route |path |url |resource )?(not found|not_found)"
    r"|method not allowed|cannot post .*|404|405",
    re.IGNORECASE,
)
"""Messages of web servers about an unknown address; they say nothing about the request."""

_WORD_FIELDS = ("message", "detail", "msg", "error", "error_description", "title")
_WORDS_LIMIT = 3
"""The most messages that are shown from a list."""

_CHECK_BASE_URL = "Check the base URL: most end in /v1."
_MAKE_ROOM = "Send less, or make room with /compact."

_QUOTA_CODES = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
_AUTH_CODES = {"authentication_error", "permission_error", "permission_denied", "invalid_api_key"}
_RATE_CODES = {
    "rate_limit_exceeded",
    "rate_limit_error",
    "rate_limited",
    "too_many_requests",
    "resource_exhausted",
}
_REFUSED_CODES = {
    "invalid_request_error",
    "invalid_prompt",
    "not_found_error",
    "model_not_found",
    "unsupported_value",
    "billing_error",
    "bio_policy",
    "data_residency_mismatch",
    "misalignment_policy_violation",
} | _QUOTA_CODES


def status_error(status: int, headers: Mapping[str, str], body: object, server: str) -> ProviderError:
    """The exception for an HTTP answer that isn't a success. `body` is parsed JSON or text."""
    given = provider_sentence(body)
    sentence = given or f"{status} {_phrase(status)}"
    message = f"{server}: {sentence}"
    numbered = _whole(message if str(status) in sentence else f"{message.rstrip('.')} ({status})")
    if _is_context(status, body, sentence):
        return ContextExceeded(numbered, advice=_MAKE_ROOM)
    if status in (401, 403) or (status == 400 and _is_about_key(body, sentence)):
        return AuthFailed(_whole(message))
    if status in (408, 409, 425) or status >= 500 or (status == 429 and not _codes(body) & _QUOTA_CODES):
        wait = retry_after(headers)
        wait = wait if wait is not None else _delay_in(body)
        return ServerBusy(numbered, retry_after=wait, rate_limited=status == 429)
    if 300 <= status < 400:
        target = headers.get("location", "another address")
        return RequestRefused(f"{server} redirects to {target}. If that is right, make it the base URL.")
    is_lost = status in (404, 405) and (not given or bool(_NOTHING_FOUND.fullmatch(given.rstrip(".!"))))
    return RequestRefused(numbered, advice=_CHECK_BASE_URL if is_lost else "")


def stream_error(body: object, server: str) -> ProviderError:
    """The exception for an error object instead of a stream, or inside one.

    It is final if its status or code says so; an error that says nothing counts as temporary.
    """
    codes = _codes(body)
    status = next((int(code) for code in codes if code.isdigit() and 400 <= int(code) < 600), None)
    if status is not None:
        return status_error(status, {}, body, server)
    sentence = provider_sentence(body)
    message = _whole(f"{server}: {sentence}" if sentence else f"{server} reported {_unworded(body)}")
    if _is_context(None, body, sentence):
        return ContextExceeded(message, advice=_MAKE_ROOM)
    if codes & _AUTH_CODES or _is_about_key(body, sentence):
        return AuthFailed(message)
    if codes & _REFUSED_CODES:
        return RequestRefused(message)
    return ServerBusy(message, retry_after=_delay_in(body), rate_limited=bool(codes & _RATE_CODES))


def _unworded(body: object) -> str:
    """A sentence for an error without a message, from its code or type."""
    error = object_of(_error_object(body))
    name = next(filter(None, (_line(error.get(field)) for field in ("code", "type"))), "")
    return f"the error {name}" if name not in ("", "error") else "an error without a message"


def provider_sentence(body: object) -> str:
    """The provider's own message on one line; "" if there is none or it is a web page."""
    error = _error_object(body)
    sentence, cause = _line(error), _cause(error)
    return ": ".join(filter(None, (sentence.rstrip(".") if cause else sentence, cause)))


def _line(value: object) -> str:
    text = " ".join(mended(_words(value)).split())
    return "" if text.startswith("<") else text


def _cause(error: object) -> str:
    """Returns the message of the server behind a router (OpenRouter), from text or from the JSON of that
    server's error."""
    metadata = object_of(object_of(error).get("metadata"))
    raw = metadata.get("raw")
    try:
        said = _line(_error_object(json.loads(raw))) if isinstance(raw, str) else _line(_error_object(raw))
    except (ValueError, RecursionError):
        said = _line(raw)
    name = text_of(metadata.get("provider_name"))
    return f"{said.rstrip('.')} ({name})" if said and name else said


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait: `retry-after-ms`, or `Retry-After` in seconds or as a date.

    None if it is missing, negative, in the past or not a number. The names in `headers` are in lower case.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    return seconds if seconds is not None or value is None else _seconds_until(value)


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _seconds_until(date: str) -> float | None:
    from email.utils import parsedate_to_datetime  # noqa: PLC0415 - 13 ms, and hardly a server sends dates

    try:
        seconds = parsedate_to_datetime(date).timestamp() - time.time()
    except (ValueError, OverflowError):
        return None
    return seconds if seconds >= 0 else None


def _is_context(status: int | None, body: object, sentence: str) -> bool:
    if status == 413:
        return True
    if status not in (400, 422, 500, None):
        return False
    return bool(_codes(body) & _CONTEXT_CODES or _CONTEXT_WORDS.search(sentence))


def _error_object(body: object) -> object:
    """The part of the body that describes the error; some servers wrap it in a list, or twice."""
    if isinstance(body, list) and body:
        return _error_object(body[0])
    error = body.get("error") if isinstance(body, Mapping) else None
    return _error_object(error) if isinstance(error, Mapping | list) and error else body


def _details(body: object) -> list[Mapping[str, Any]]:
    """Google's details of an error."""
    return objects_of(object_of(_error_object(body)).get("details"))


def _is_about_key(body: object, sentence: str) -> bool:
    reasons = (text_of(detail.get("reason")) for detail in _details(body))
    return any(map(_KEY_WORDS.search, (sentence, *reasons)))


def _delay_in(body: object) -> float | None:
    """The seconds to wait that Google names in the body: "34s"."""
    delays = (_number(text_of(detail.get("retryDelay")).removesuffix("s")) for detail in _details(body))
    return next((delay for delay in delays if delay is not None), None)


def _codes(body: object) -> set[str]:
    error = object_of(_error_object(body))
    values = (error.get(name) for name in ("code", "type", "status", "status_code"))
    return {str(value).lower() for value in values if isinstance(value, str | int)}


def _words(value: object) -> str:
    """The text in a message field of any type."""
    if isinstance(value, list):
        return "; ".join(filter(None, map(_words, value[:_WORDS_LIMIT])))
    if isinstance(value, Mapping):
        return next(filter(None, (_words(value.get(name)) for name in _WORD_FIELDS)), "")
    return text_of(value)


def _whole(message: str) -> str:
    """The message as a sentence that another one can follow."""
    return message if message.endswith((".", "!", "?", "…")) else f"{message}."


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "error"
