"""Threads that import make way for keys.

A thread at work keeps the interpreter for 5 ms before it hands it over, and a key on its way to the screen
has to get hold of it several times. So after a key it is handed over sooner, and a thread pauses before each
module that it imports; when no more keys come that ends, as an import would take far longer so.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

_HASTE: Final = 0.05
"""Seconds in which a key is seen on the screen, as a rule."""
_PAUSE: Final = 0.000_3
_USUAL, _SOON = 0.005, 0.001
"""Seconds after which the interpreter is handed over: Python's own, and in haste."""

_hasty_until = 0.0


class _Courteous:
    """Finds no module: it is asked for each one before the finders that do."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        if threading.current_thread() is not threading.main_thread():
            _make_way()
        return None


_COURTEOUS: Final = _Courteous()


def begin() -> None:
    """From now on threads make way."""
    if _COURTEOUS not in sys.meta_path:
        sys.meta_path.insert(0, _COURTEOUS)


def key_came() -> None:
    """Something was typed. To be called as early as possible."""
    global _hasty_until
    sys.setswitchinterval(_SOON)
    _hasty_until = time.monotonic() + _HASTE


def rest() -> None:
    """No key has come for a while."""
    sys.setswitchinterval(_USUAL)


def _make_way() -> None:
    if time.monotonic() < _hasty_until:
        time.sleep(_PAUSE)
    else:
        rest()
