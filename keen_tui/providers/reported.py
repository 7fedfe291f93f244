"""Errors as providers word them: from a status and a JSON body to our own exceptions.

It serves HTTP errors and error objects inside a stream alike, for every API.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from keen_tui.errors import AuthFailed, ContextExceeded, ProviderError, RequestRefused, ServerBusy
from keen_tui.providers.wire_text import mended

_CONTEXT_CODES = {"context_length_exceeded", "exceed_context_size_error", "request_too_large"}
_CONTEXT_WORDS = re.compile(
    r"context[ _](length|window|size|limit)|maximum (context|prompt) length|(prompt|input) is too long"
    r"|input token count .* exceeds|exceeds? the maximum number of tokens",
    re.IGNORECASE,
)
_QUOTA_CODES = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
_AUTH_CODES = {"authentication_error", "permission_error", "permission_denied", "invalid_api_key"}
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
    """The exception for an HTTP answer that is no success. `body` is parsed JSON or text."""
    sentence = provider_sentence(body) or f"{status} {_phrase(status)}"
    message = f"{server}: {sentence}"
    if _is_context(status, body, sentence):
        return ContextExceeded(message)
    if status in (401, 403):
        return AuthFailed(message)
    if status in (408, 409, 425) or status >= 500 or (status == 429 and not _codes(body) & _QUOTA_CODES):
        return ServerBusy(f"{message} ({status})", retry_after=retry_after(headers))
    if 300 <= status < 400:
        target = headers.get("location", "another address")
        return RequestRefused(f"{server} redirects to {target}; if that is right, make it the base URL")
    return RequestRefused(f"{message} ({status})")


def stream_error(body: object, server: str) -> ProviderError:
    """The exception for an error object that came in place of, or inside, a stream.

    A status or code that says so makes it final; what says nothing counts as a passing fault.
    """
    codes = _codes(body)
    status = next((int(code) for code in codes if code.isdigit() and 400 <= int(code) < 600), None)
    if status is not None:
        return status_error(status, {}, body, server)
    sentence = provider_sentence(body) or "an error without a message"
    message = f"{server}: {sentence}"
    if _is_context(None, body, sentence):
        return ContextExceeded(message)
    if codes & _AUTH_CODES:
        return AuthFailed(message)
    return RequestRefused(message) if codes & _REFUSED_CODES else ServerBusy(message)


def provider_sentence(body: object) -> str:
    """The provider's own message on one line; "" when there is none or it is a page."""
    text = " ".join(mended(_message(body)).split())
    return "" if text.startswith("<") else text


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds the server asks to wait: `retry-after-ms`, or `Retry-After` in seconds or as a date.

    None for what is missing, negative, past or no number. `headers` is looked up in lower case.
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
    """The part of the body that describes the error; some servers wrap it in a list."""
    if isinstance(body, list) and body:
        body = body[0]
    if isinstance(body, Mapping) and body.get("error"):
        return body["error"]
    return body


def _codes(body: object) -> set[str]:
    error = _error_object(body)
    if not isinstance(error, Mapping):
        return set()
    values = (error.get("code"), error.get("type"), error.get("status"))
    return {str(value).lower() for value in values if isinstance(value, str | int)}


def _message(body: object) -> str:
    error: Any = _error_object(body)
    if isinstance(error, Mapping):
        error = error.get("message") or error.get("detail") or ""
    return error if isinstance(error, str) else str(error) if error else ""


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "error"
