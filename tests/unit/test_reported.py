"""What becomes of the errors that providers report."""

from __future__ import annotations

import time
from email.utils import formatdate
from typing import Any

import pytest

from keen_tui.domain.errors import AuthFailed, ContextExceeded, ProviderError, RequestRefused, ServerBusy
from keen_tui.providers.wire.reported import provider_sentence, retry_after, status_error, stream_error
from keen_tui.providers.wire.sdk_errors import host_and_port


@pytest.mark.parametrize(
    ("status", "error", "expected"),
    [
        (400, {"message": "bad"}, RequestRefused),
        (400, {"message": "too much", "code": "context_length_exceeded"}, ContextExceeded),
        (400, {"message": "This model's maximum context length is 8192 tokens."}, ContextExceeded),
        (400, {"message": "prompt is too long: 9 tokens > 8 maximum"}, ContextExceeded),
        (401, {}, AuthFailed),
        (402, {"message": "Insufficient Balance"}, RequestRefused),
        (403, {}, AuthFailed),
        (404, {}, RequestRefused),
        (408, {}, ServerBusy),
        (409, {}, ServerBusy),
        (413, {}, ContextExceeded),
        (422, {}, RequestRefused),
        (429, {"message": "slow down"}, ServerBusy),
        (429, {"message": "too many tokens for the context window per minute"}, ServerBusy),
        (429, {"message": "pay", "code": "insufficient_quota"}, RequestRefused),
        (429, {"message": "pay", "type": "insufficient_quota"}, RequestRefused),
        (500, {}, ServerBusy),
        (529, {"type": "overloaded_error"}, ServerBusy),
        (599, {}, ServerBusy),
    ],
)
def test_a_status_becomes(status: int, error: dict[str, Any], expected: type[ProviderError]) -> None:
    assert type(status_error(status, {}, {"error": error}, "server")) is expected


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"message": "overloaded", "type": "overloaded_error"}, ServerBusy),
        ({"message": "who knows"}, ServerBusy),
        ({"message": "upstream", "code": 502}, ServerBusy),
        ({"message": "key", "code": "401"}, AuthFailed),
        ({"message": "no", "type": "invalid_request_error"}, RequestRefused),
        ({"message": "pay", "code": "insufficient_quota"}, RequestRefused),
        ({"message": "long", "code": "context_length_exceeded"}, ContextExceeded),
        ("just a sentence", ServerBusy),
    ],
)
def test_an_error_inside_a_stream_becomes(error: object, expected: type[ProviderError]) -> None:
    assert type(stream_error({"error": error}, "server")) is expected


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "the sentence"}},
        {"error": "the sentence"},
        {"message": "the sentence"},
        {"detail": "the sentence"},
        [{"error": {"message": "the\n sentence"}}],
        "the sentence",
    ],
)
def test_the_sentence_is_found_wherever_servers_put_it(body: object) -> None:
    assert provider_sentence(body) == "the sentence"


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (
            {"detail": [{"loc": ["body"], "msg": "Field required"}, {"msg": "Too long"}]},
            "Field required; Too long",
        ),
        ({"message": {"detail": "deep"}}, "deep"),
        ({"error": {"error": {"message": "twice wrapped"}}}, "twice wrapped"),
        ({"error": True, "message": "flagged"}, "flagged"),
        ({"error": "Unauthorized", "message": "The key is gone"}, "The key is gone"),
        ({"error": {"code": 400, "extra": {"a": 1}}}, ""),
        ({"error": 5}, ""),
        ([[]], ""),
    ],
)
def test_no_form_of_an_error_is_shown_as_python_writes_it(body: object, sentence: str) -> None:
    assert provider_sentence(body) == sentence


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        ("the model is overloaded.", "Provider returned error: the model is overloaded (Google)"),
        ('{"error": {"message": "too hot"}}', "Provider returned error: too hot (Google)"),
        ({"error": {"message": "too hot"}}, "Provider returned error: too hot (Google)"),
        ("<html>oh", "Provider returned error."),
        (None, "Provider returned error."),
    ],
)
def test_what_the_server_behind_a_router_said_is_shown(raw: object, sentence: str) -> None:
    metadata = {"raw": raw, "provider_name": "Google"}
    error = {"message": "Provider returned error.", "code": 429, "metadata": metadata}
    assert provider_sentence({"error": error}) == sentence


def google(message: str, reason: str = "") -> list[dict[str, Any]]:
    """An error as Google sends it on its OpenAI-compatible address."""
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}]
    return [{"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT", "details": details}}]


@pytest.mark.parametrize(
    "body",
    [
        google("API key not valid. Please pass a valid API key.", "API_KEY_INVALID"),
        google("Bad request.", "API_KEY_INVALID"),
        {"error": "Incorrect API key provided: xa***. Obtain one elsewhere."},
        {"error": {"message": "API key expired. Please renew the API key."}},
    ],
)
def test_a_key_that_is_refused_with_400_is_a_matter_of_the_key(body: object) -> None:
    assert type(status_error(400, {}, body, "server")) is AuthFailed
    assert type(stream_error(body, "server")) is AuthFailed


def test_other_errors_with_400_stay_what_they_are() -> None:
    body = google('Invalid JSON payload. Unknown name "key"', "BAD_REQUEST")
    assert type(status_error(400, {}, body, "server")) is RequestRefused


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<html>",
        "404 page not found",
        {"detail": "Not Found"},
        {"error": {"message": "Not Found"}},
        "Cannot POST /x",
    ],
)
def test_an_address_that_is_not_there_hints_at_the_base_url(body: object) -> None:
    error = status_error(404, {}, body, "server")
    assert type(error) is RequestRefused and "base URL" in error.advice


def test_a_model_that_is_not_there_does_not() -> None:
    error = status_error(404, {}, {"error": {"message": "model 'x' not found, try pulling it"}}, "server")
    assert not error.advice and str(error) == "server: model 'x' not found, try pulling it (404)."


@pytest.mark.parametrize(
    ("status", "body", "sentence"),
    [
        (429, {"error": "slow down."}, "server: slow down (429)."),
        (502, "<html>", "server: 502 Bad Gateway."),
        (500, {"error": "Error 500: oh"}, "server: Error 500: oh."),
        (400, {"error": "why?"}, "server: why? (400)."),
        (401, {"error": "who are you"}, "server: who are you."),
    ],
)
def test_an_error_is_one_sentence_with_its_number_once(status: int, body: object, sentence: str) -> None:
    assert str(status_error(status, {}, body, "server")) == sentence


def test_too_long_a_request_says_what_to_do() -> None:
    assert "/compact" in status_error(413, {}, "", "server").advice


def test_a_page_is_not_shown() -> None:
    assert provider_sentence("<html>oh") == ""
    assert "502 Bad Gateway" in str(status_error(502, {}, "<html>", "server"))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "1000000000"}, 1e9),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "rubbish", "retry-after": "3"}, 3.0),
        ({"retry-after": "Fri, 01 Jan 1999 00:00:00 GMT"}, None),
        ({}, None),
    ],
)
def test_retry_after_is(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_retry_after_may_be_a_date() -> None:
    seconds = retry_after({"retry-after": formatdate(time.time() + 3600, usegmt=True)})
    assert seconds is not None and 3000 < seconds <= 3600


@pytest.mark.parametrize(
    ("base_url", "names"),
    [
        ("https://api.example/v1", ("api.example", "api.example:443")),
        ("http://127.0.0.1:11434/v1", ("127.0.0.1:11434", "127.0.0.1:11434")),
        ("https://user:secret@api.example/v1", ("api.example", "api.example:443")),
        ("rubbish", ("rubbish", "rubbish")),
        ("http://a:b", ("http://a:b", "http://a:b")),
    ],
)
def test_a_server_is_called(base_url: str, names: tuple[str, str]) -> None:
    assert host_and_port(base_url) == names


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"error": {"message": "Overloaded"}}, "server: Overloaded."),
        ({"error": {"code": "server_error"}}, "server reported the error server_error."),
        ({"error": {"type": "api_error", "message": ""}}, "server reported the error api_error."),
        ({"type": "error"}, "server reported an error without a message."),
        (None, "server reported an error without a message."),
    ],
)
def test_an_error_in_a_stream_without_status_and_message_reads_as_a_sentence(
    body: object, sentence: str
) -> None:
    assert str(stream_error(body, "server")) == sentence
