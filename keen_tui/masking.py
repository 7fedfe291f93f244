"""Keys taken out of texts that are kept or shown: logs, reports of crashes, messages of servers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

MASK: Final = "[key]"

_SECRET_WORDS: Final = ("KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH", "DSN")
_SHORTEST: Final = 8
"""Characters that a secret has at least: shorter ones would be found in words."""

_known: set[str] = set()


def keep_secret(secret: str) -> None:
    """From now on `masked` takes this out of all texts."""
    if len(secret) >= _SHORTEST:
        _known.add(secret)


def keep_secrets_of(environ: Mapping[str, str]) -> None:
    """The values of variables whose names say that they hold secrets."""
    for name, value in environ.items():
        if any(word in name.upper() for word in _SECRET_WORDS):
            keep_secret(value)


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


def masked(text: str) -> str:
    """The text without the secrets that are known, and without anything that looks like a key."""
    for secret in sorted(_known, key=len, reverse=True):
        text = text.replace(secret, MASK)
    return _shapes().sub(MASK, text)
