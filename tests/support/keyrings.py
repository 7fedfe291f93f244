"""The system's keyring, which the machine that runs the tests may lack."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import keyring
from keyring.backend import KeyringBackend
from keyring.backends import fail


@contextmanager
def system_keyring(ring: KeyringBackend) -> Iterator[None]:
    """Inside, `ring` replaces the keyring of this machine."""
    before = keyring.get_keyring()
    keyring.set_keyring(ring)
    yield
    keyring.set_keyring(before)


@contextmanager
def no_system_keyring() -> Iterator[None]:
    """Inside, the machine has no keyring."""
    with system_keyring(fail.Keyring()):  # type: ignore[no-untyped-call]
        yield
