"""The address of a model server, as a person types it."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

from keen_tui.domain.errors import ConfigError
from keen_tui.settings.config import is_loopback, problem_of

_ENDPOINTS = ("/chat/completions", "/completions", "/models", "/responses")
"""Endings that people copy along with a base URL."""
_VERSIONED = re.compile(r".*/v\d\w*")


def base_urls(address: str) -> tuple[str, ...]:
    """The base URLs that an address may mean, in the order in which to try them: the address itself and,
    unless it ends with a version, the same with /v1. On this machine http:// may be left out.

    Raises:
        ConfigError: it can't be the address of a server; the message says why.
    """
    text = address.strip()
    if not text:
        raise ConfigError("Enter an address, for example http://localhost:8000/v1.")
    if "://" not in text and is_loopback(f"http://{text}"):
        text = f"http://{text}"
    url = _without_endpoint(_checked(text).rstrip("/"))
    return (url,) if _VERSIONED.fullmatch(url) else (url, f"{url}/v1")


def _checked(text: str) -> str:
    if any(sign.isspace() or not sign.isprintable() for sign in text):
        raise ConfigError("The address contains a space or an invisible character.")
    if not text.lower().startswith(("http://", "https://")):
        raise ConfigError("The address must begin with https://, or with http:// if the server has no TLS.")
    if problem := problem_of("base_url", text):
        raise ConfigError(f"The address {problem}.")
    parts = urlsplit(text)
    if parts.username is not None or parts.password is not None:
        raise ConfigError("The address contains a user name or a password. Leave that out.")
    if parts.query or parts.fragment:
        raise ConfigError("The address contains ? or #. Leave out everything from there on.")
    return _lowered(parts)


def _lowered(parts: SplitResult) -> str:
    """The URL with its host in lower case, as hosts are compared."""
    return parts._replace(netloc=parts.netloc.lower()).geturl()


def _without_endpoint(url: str) -> str:
    ending = next((each for each in _ENDPOINTS if url.endswith(each)), "")
    return url.removesuffix(ending)
