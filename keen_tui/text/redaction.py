"""Keys taken out of texts that are kept or shown: logs, reports of crashes, messages of servers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final, TypeVar

import msgspec

MASK: Final = "[key]"

_Value = TypeVar("_Value")

_SECRET_WORDS: Final = ("KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH", "DSN")
_SHORTEST: Final = 8
"""Characters that a secret has at least: shorter ones would be found in words."""

_known: set[str] = set()
_keys: set[str] = set()
"""The API keys among them."""


def keep_secret(secret: str) -> None:
    """From now on `masked` takes this out of all texts."""
    if len(secret) >= _SHORTEST:
        _known.add(secret)


def keep_key(key: str) -> None:
    """From now on this API key is known: `known_keys` gives it, `masked` takes it out of all texts."""
    keep_secret(key)
    _keys.update({key} & _known)


def known_keys() -> frozenset[str]:
    """The API keys that came by so far."""
    return frozenset(_keys)


def keep_secrets_of(environ: Mapping[str, str]) -> None:
    """The values of variables whose names say that they hold secrets."""
    for name, value in environ.items():
        if holds_secret(name):
            keep_secret(value)


def holds_secret(name: str) -> bool:
    """Whether the name of a variable or header says that it holds a secret."""
    return any(word in name.upper() for word in _SECRET_WORDS)


@cache
def _shapes() -> re.Pattern[str]:
    """What keys look like. Not compiled before a text has to be masked: the first paint comes first."""
    return re.compile(
        r"\b(?:(?:sk|pk|rk|gsk|xai|key|glpat|xox[abprs])-|(?:gh[oprsu]|github_pat|hf|npm)_)[\w*-]{8,}"
        r"|\bAIza[\w-]{20,}|\bA[KS]IA[A-Z0-9]{12,}|(?<=Bearer )\S+|(?<=Basic )[\w+/=]{8,}"
        r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*|(?<=api-key: )\S+|(?<=://)[^\s/:@]*:[^\s/@]+(?=@)"
        r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
        re.IGNORECASE | re.DOTALL,
    )


def taken_out(keys: Iterable[str], value: _Value) -> _Value:
    """The same value, a text or a Struct, with these keys taken out of all its texts."""
    secrets = sorted((key for key in keys if len(key) >= _SHORTEST), key=len, reverse=True)

    def cleaned(part: Any) -> Any:
        if isinstance(part, str):
            for secret in secrets:
                part = part.replace(secret, MASK)
            return part
        if isinstance(part, dict):
            return {name: cleaned(each) for name, each in part.items()}
        return type(part)(map(cleaned, part)) if isinstance(part, list | tuple) else part

    before = msgspec.to_builtins(value)
    after = cleaned(before)
    return value if after == before else msgspec.convert(after, type(value))


def would_lose_key(keys: Iterable[str], before: str, after: str) -> bool:
    """Whether one of these keys gives way to what stands for it in texts that were shown."""
    has_more_masks = after.count(MASK) > before.count(MASK)
    long_enough = (key for key in keys if len(key) >= _SHORTEST)
    return has_more_masks and any(after.count(key) < before.count(key) for key in long_enough)


class KeysTakenOut:
    """Takes API keys out of output as it comes, also where one comes in two pieces.

    Args:
        keys: what to take out; ones that are too short to be keys are passed over.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        long_enough = {key for key in keys if len(key) >= _SHORTEST}
        self._keys = [os.fsencode(key) for key in sorted(long_enough, key=len, reverse=True)]
        self._pattern = re.compile(b"|".join(map(re.escape, self._keys)))
        self._held = b""

    def feed(self, chunk: bytes) -> bytes:
        """What can be passed on; the end that may be the beginning of a key is held back."""
        output = self._held + chunk
        end = len(output) - max((_begun(key, output) for key in self._keys), default=0)
        for start, stop in self._found(output):
            if start < end < stop:
                end = start
        passed, self._held = output[:end], output[end:]
        return self._without_keys(passed)

    def rest(self) -> bytes:
        """What was held back: nothing comes any more."""
        held, self._held = self._held, b""
        return self._without_keys(held)

    def _found(self, output: bytes) -> list[tuple[int, int]]:
        """Where keys stand. Of two that begin at one place the longer one counts."""
        if not any(key in output for key in self._keys):  # much faster than the pattern
            return []
        return [match.span() for match in self._pattern.finditer(output)]

    def _without_keys(self, output: bytes) -> bytes:
        return self._pattern.sub(MASK.encode(), output) if self._found(output) else output


def _begun(key: bytes, output: bytes) -> int:
    """How many bytes of the key stand at the end of the output."""
    return next((size for size in range(len(key) - 1, 0, -1) if output.endswith(key[:size])), 0)


def masked(text: str) -> str:
    """The text without the secrets that are known, and without anything that looks like a key."""
    for secret in sorted(_known, key=len, reverse=True):
        text = text.replace(secret, MASK)
    return _shapes().sub(MASK, text)
