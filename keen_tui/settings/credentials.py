"""API keys: found in the environment, in the system keyring or in a file that only the user can read.

A key is in no repr, message, log or exception.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from keen_tui.domain.errors import ConfigError
from keen_tui.domain.models import ProviderInfo
from keen_tui.system.secret_store import SecretStore
from keen_tui.text.redaction import keep_key

KEY_LIMIT = 4_000
"""Characters that no key has."""


class FoundKey(Struct, frozen=True, kw_only=True):
    """A key, and where it came from, for messages: a variable, a file, the keyring."""

    value: str
    source: str

    def __repr__(self) -> str:
        """Without the key."""
        return f"FoundKey(from {self.source!r})"


class Keys:
    """The keys of this user. `folder` is the settings folder, where keys.toml is."""

    def __init__(self, environ: Mapping[str, str], folder: Path) -> None:
        self._environ = environ
        self._store = SecretStore(
            folder / "keys.toml",
            noun="key",
            again="enter the key again",
            advice="put the key in the environment",
        )

    def find(self, provider: ProviderInfo) -> FoundKey | None:
        """The provider's key: from its environment variables, then from what was kept. For a server by its
        address it is the other way round: the variables are OpenAI's.

        Raises:
            ConfigError: what was found can't be a key, or the file can't be read.
        """
        if provider.by_address:
            return self._kept(provider) or self._in_environment(provider)
        return self._in_environment(provider) or self._kept(provider)

    def _in_environment(self, provider: ProviderInfo) -> FoundKey | None:
        variable = self._variable(provider)
        if variable is None:
            return None
        value = self._environ[variable].strip()
        return FoundKey(value=checked_key(value, f"in {variable}"), source=variable)

    def _variable(self, provider: ProviderInfo) -> str | None:
        """The environment variable that holds the key, None: none does."""
        return next((each for each in provider.key_variables if self._environ.get(each, "").strip()), None)

    def _kept(self, provider: ProviderInfo) -> FoundKey | None:
        kept = self._store.get(provider.id)
        if kept is None:
            return None
        value, source = kept
        return FoundKey(value=checked_key(value, f"in {source}"), source=source)

    def where(self, provider: ProviderInfo) -> str | None:
        """Where the provider's key is, in words, None: nowhere. No keyring is asked.

        Raises:
            ConfigError: the file can't be read.
        """
        variable = self._variable(provider)
        if variable and not provider.by_address:
            return variable
        return self._store.where(provider.id) or variable

    def save(self, provider_id: str, key: str) -> str:
        """Keep a key; gives where it is now, in words. Blocking: the keyring may wait for the user.

        Raises:
            ConfigError: it can't be a key, or it can't be kept.
        """
        return self._store.put(provider_id, checked_key(key.strip(), "you entered"))

    def destination(self) -> str:
        """Where `save` would put a key now, in words. Blocking: it may ask the system's keyring."""
        return self._store.destination()

    def forget(self, provider_id: str) -> None:
        """Remove a kept key. No effect when there is none."""
        self._store.forget(provider_id)


def checked_key(key: str, where: str) -> str:
    """The key. Raises ConfigError, without quoting it, when no key looks like that."""
    if not key:
        raise ConfigError("The key is empty.")
    if len(key) > KEY_LIMIT or not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(f"The key {where} contains characters that a key can't have: copy it again.")
    keep_key(key)
    return key
