"""Secrets by name: in the system keyring where there is one, else in a file that only the user can read.

A secret is in no repr, message, log or exception. The keyring is asked only when the file says that a secret
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
from typing import TYPE_CHECKING, Final, TypeVar

from keen_tui.domain.errors import ConfigError

if TYPE_CHECKING:
    from filelock import BaseFileLock
    from keyring.backend import KeyringBackend

KEYRING_SERVICE: Final = "keen-tui"
KEYRING_SECONDS: Final = 20.0
"""How long the system keyring is waited for: it may ask the user for a password."""

THE_KEYRING: Final = "the system keyring"
"""The keyring in messages."""

_IN_KEYRING: Final = "keyring"
_LOCK_SECONDS: Final = 10.0

Answer = TypeVar("Answer")


class SecretStore:
    """The secrets of one kind. All methods block, and raise ConfigError if the file can't be read or written.

    Args:
        file: where they are kept, or that the keyring has them.
        noun: what one is called in messages: "key".
        advice: what the user can do instead of unlocking the keyring, for a sentence.
        again: how the user gets a new one, for a sentence: "enter the key again".
    """

    def __init__(self, file: Path, *, noun: str, again: str, advice: str) -> None:
        self.file = file
        self._noun = noun
        self._again = again
        self._advice = advice
        self._from_ring: dict[str, str | None] = {}

    def get(self, name: str, *, anew: bool = False) -> tuple[str, str] | None:
        """The secret and where it is, in words; None: there is none. The keyring is asked once in the life of
        the program, or `anew`.

        Raises:
            ConfigError: the entry is none, or the keyring doesn't answer.
        """
        kept = self._read().get(name)
        if kept is None:
            return None
        if kept == {"in": _IN_KEYRING}:
            if anew or name not in self._from_ring:
                self._from_ring[name] = self._with_keyring(
                    lambda ring: ring.get_password(KEYRING_SERVICE, name)
                )
            in_ring = self._from_ring[name]
            return (in_ring, THE_KEYRING) if in_ring else None
        if isinstance(kept, str) and kept:
            return kept, str(self.file)
        raise ConfigError(
            f"{self.file}: the entry {name!r} isn't a {self._noun}. {self._again.capitalize()}, or remove "
            "the entry."
        )

    def where(self, name: str) -> str | None:
        """Where a secret is, in words, None: nowhere. No keyring is asked."""
        kept = self._read().get(name)
        if kept is None:
            return None
        return THE_KEYRING if kept == {"in": _IN_KEYRING} else str(self.file)

    def put(self, name: str, secret: str) -> str:
        """Keep a secret; gives where it is now, in words. The keyring may wait for the user."""
        self._from_ring.pop(name, None)
        in_keyring = self._keyring_takes(name, secret)
        self._write(self._read() | {name: {"in": _IN_KEYRING} if in_keyring else secret})
        return THE_KEYRING if in_keyring else f"{self.file}, which only you can read"

    def destination(self) -> str:
        """Where `put` would keep one now, in words. It may ask the system's keyring."""
        from importlib.util import find_spec  # noqa: PLC0415 - not before the first paint

        if find_spec("keyring") is None:
            return str(self.file)
        try:
            return self._with_keyring(lambda _: THE_KEYRING)
        except ConfigError:
            return str(self.file)

    def forget(self, name: str) -> bool:
        """Remove a secret. Returns whether there was one."""
        kept = self._read()
        self._from_ring.pop(name, None)
        gone = kept.pop(name, None)
        if gone == {"in": _IN_KEYRING}:
            self._with_keyring(lambda ring: ring.delete_password(KEYRING_SERVICE, name))
        self._write(kept)
        return gone is not None

    def lock(self) -> BaseFileLock:
        """What keeps other programs from changing the secrets, as a context; any thread may leave it.
        Entering raises filelock's Timeout if another program holds it too long."""
        from filelock import FileLock  # noqa: PLC0415 - only when something is written

        try:
            self._make_folder()
        except OSError as error:
            raise self._unwritable(error) from None
        return FileLock(f"{self.file}.lock", timeout=_LOCK_SECONDS, thread_local=False, mode=0o600)

    def _read(self) -> dict[str, object]:
        try:
            descriptor = os.open(self.file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(descriptor, "rb") as file:
                self._require_private(os.fstat(descriptor))
                return tomllib.load(file)
        except FileNotFoundError:
            return {}
        except OSError as error:
            why = "it is a link" if error.errno == errno.ELOOP else error.strerror
            raise ConfigError(f"{self.file} can't be read: {why}. Remove it, {self._again}.") from None
        except ValueError:  # its message could quote a secret
            raise ConfigError(
                f"{self.file} isn't valid TOML. Fix or delete it, then {self._again}."
            ) from None

    def _require_private(self, status: os.stat_result) -> None:
        if status.st_uid != os.getuid() or not stat.S_ISREG(status.st_mode):
            raise ConfigError(
                f"{self.file} is not your own plain file, so no {self._noun} is read from it. Remove it."
            )
        if stat.S_IMODE(status.st_mode) & 0o077:
            self.file.chmod(0o600)

    def _write(self, kept: Mapping[str, object]) -> None:
        import tomlkit  # noqa: PLC0415 - only when something is written

        text = tomlkit.dumps(kept)
        new = self.file.with_name(f"{self.file.name}.new")
        try:
            self._make_folder()
            new.unlink(missing_ok=True)
            with os.fdopen(
                os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
            ) as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            new.replace(self.file)
        except OSError as error:
            raise self._unwritable(error) from None

    def _make_folder(self) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.parent.chmod(0o700)

    def _unwritable(self, error: OSError) -> ConfigError:
        return ConfigError(f"The {self._noun} can't be saved in {self.file}: {error.strerror}.")

    def _keyring_takes(self, name: str, secret: str) -> bool:
        """Whether a system keyring is there and has taken the secret."""
        try:
            self._with_keyring(lambda ring: ring.set_password(KEYRING_SERVICE, name, secret))
        except ConfigError:
            return False
        return True

    def _with_keyring(self, action: Callable[[KeyringBackend], Answer]) -> Answer:
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
            raise ConfigError(f"The system keyring doesn't answer. Unlock it, or {self._advice}.")
        return answers[0]


def _system_keyring() -> KeyringBackend:
    """The keyring of the desktop. Raises where the extra is not installed or nothing real is behind it."""
    import keyring  # noqa: PLC0415 - an extra, and slow to import
    from keyring.backends import fail, null  # noqa: PLC0415

    ring = keyring.get_keyring()
    if isinstance(ring, fail.Keyring | null.Keyring) or ring.priority < 1:  # below 1: not recommended
        raise RuntimeError("no keyring")
    return ring
