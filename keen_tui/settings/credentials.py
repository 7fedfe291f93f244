"""API keys: found in the environment, in the system keyring or in a file that only the user can read.

A key is in no repr, message, log or exception. The keyring is asked only when the file says that a key
is kept there: importing it costs time, and a locked one may ask for a password.
"""

from __future__ import annotations

import errno
import os
import stat
import threading
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from keen_tui.domain.errors import ConfigError
from keen_tui.domain.models import ProviderInfo
from keen_tui.text.redaction import keep_key

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

KEYRING_SERVICE = "keen-tui"
KEYRING_SECONDS = 20.0
"""How long the system keyring is waited for: it may ask the user for a password."""

KEY_LIMIT = 4_000
"""Characters that no key has."""

_IN_KEYRING = "keyring"
_THE_KEYRING = "the system keyring"

Answer = TypeVar("Answer")


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
        self._file = folder / "keys.toml"
        self._from_ring: dict[str, str | None] = {}

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
        kept = self._read().get(provider.id)
        if kept is None:
            return None
        if kept == {"in": _IN_KEYRING}:
            in_ring = self._kept_in_ring(provider.id)
            return FoundKey(value=in_ring, source=_THE_KEYRING) if in_ring else None
        if isinstance(kept, str) and kept:
            return FoundKey(value=checked_key(kept, f"in {self._file}"), source=str(self._file))
        raise ConfigError(
            f"{self._file}: the entry {provider.id!r} isn't a key. Enter the key again, or remove the entry."
        )

    def where(self, provider: ProviderInfo) -> str | None:
        """Where the provider's key is, in words, None: nowhere. No keyring is asked.

        Raises:
            ConfigError: the file can't be read.
        """
        variable = self._variable(provider)
        if variable and not provider.by_address:
            return variable
        kept = self._read().get(provider.id)
        if kept is None:
            return variable
        return _THE_KEYRING if kept == {"in": _IN_KEYRING} else str(self._file)

    def save(self, provider_id: str, key: str) -> str:
        """Keep a key; gives where it is now, in words. Blocking: the keyring may wait for the user.

        Raises:
            ConfigError: it can't be a key, or it can't be kept.
        """
        key = checked_key(key.strip(), "you entered")
        self._from_ring.pop(provider_id, None)
        in_keyring = _keyring_takes(provider_id, key)
        self._write(self._read() | {provider_id: {"in": _IN_KEYRING} if in_keyring else key})
        return _THE_KEYRING if in_keyring else f"{self._file}, which only you can read"

    def destination(self) -> str:
        """Where `save` would put a key now, in words. Blocking: it may ask the system's keyring."""
        from importlib.util import find_spec  # noqa: PLC0415 - not before the first paint

        if find_spec("keyring") is None:
            return str(self._file)
        try:
            return _with_keyring(lambda _: _THE_KEYRING)
        except ConfigError:
            return str(self._file)

    def forget(self, provider_id: str) -> None:
        """Remove a kept key. No effect when there is none."""
        kept = self._read()
        self._from_ring.pop(provider_id, None)
        if kept.pop(provider_id, None) == {"in": _IN_KEYRING}:
            _with_keyring(lambda ring: ring.delete_password(KEYRING_SERVICE, provider_id))
        self._write(kept)

    def _kept_in_ring(self, provider_id: str) -> str | None:
        """Asked once in the life of the program."""
        if provider_id not in self._from_ring:
            self._from_ring[provider_id] = _with_keyring(
                lambda ring: ring.get_password(KEYRING_SERVICE, provider_id)
            )
        return self._from_ring[provider_id]

    def _read(self) -> dict[str, object]:
        try:
            descriptor = os.open(self._file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(descriptor, "rb") as file:
                self._require_private(os.fstat(descriptor))
                return tomllib.load(file)
        except FileNotFoundError:
            return {}
        except OSError as error:
            why = "it is a link" if error.errno == errno.ELOOP else error.strerror
            raise ConfigError(f"{self._file} can't be read: {why}. Remove it, enter the key again.") from None
        except ValueError:  # its message could quote a key
            raise ConfigError(
                f"{self._file} isn't valid TOML. Fix or delete it, then enter the keys again."
            ) from None

    def _require_private(self, status: os.stat_result) -> None:
        if status.st_uid != os.getuid() or not stat.S_ISREG(status.st_mode):
            raise ConfigError(
                f"{self._file} is not your own plain file, so no key is read from it. Remove it."
            )
        if stat.S_IMODE(status.st_mode) & 0o077:
            self._file.chmod(0o600)

    def _write(self, kept: Mapping[str, object]) -> None:
        import tomlkit  # noqa: PLC0415 - only when something is written

        text = tomlkit.dumps(kept)
        new = self._file.with_name("keys.toml.new")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._file.parent.chmod(0o700)
            new.unlink(missing_ok=True)
            with os.fdopen(
                os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
            ) as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            new.replace(self._file)
        except OSError as error:
            raise ConfigError(f"The key can't be saved in {self._file}: {error.strerror}.") from None


def checked_key(key: str, where: str) -> str:
    """The key. Raises ConfigError, without quoting it, when no key looks like that."""
    if not key:
        raise ConfigError("The key is empty.")
    if len(key) > KEY_LIMIT or not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(f"The key {where} contains characters that no key has: copy it again.")
    keep_key(key)
    return key


def _keyring_takes(provider_id: str, key: str) -> bool:
    """Whether a system keyring is there and has taken the key."""
    try:
        _with_keyring(lambda ring: ring.set_password(KEYRING_SERVICE, provider_id, key))
    except ConfigError:
        return False
    return True


def _with_keyring(action: Callable[[KeyringBackend], Answer]) -> Answer:
    """What the action gives, done in a thread of its own: a locked keyring may wait for ever.

    Raises:
        ConfigError: there is no keyring, it refused, or it did not answer in time.
    """
    answers: list[Answer] = []

    def ask() -> None:
        with suppress(Exception):
            answers.append(action(_system_keyring()))

    asking = threading.Thread(target=ask, name="keyring", daemon=True)
    asking.start()
    asking.join(KEYRING_SECONDS)
    if not answers:
        raise ConfigError("The system keyring doesn't answer. Unlock it, or put the key in the environment.")
    return answers[0]


def _system_keyring() -> KeyringBackend:
    """The keyring of the desktop. Raises where the extra is not installed or nothing real is behind it."""
    import keyring  # noqa: PLC0415 - an extra, and slow to import
    from keyring.backends import fail, null  # noqa: PLC0415

    ring = keyring.get_keyring()
    if isinstance(ring, fail.Keyring | null.Keyring) or ring.priority < 1:  # below 1: not recommended
        raise RuntimeError("no keyring")
    return ring
