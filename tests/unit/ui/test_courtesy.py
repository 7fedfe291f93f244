"""A thread that imports makes way for a key, and only then."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from keen_tui.frontends.tui.terminal import import_throttle


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    finders, interval = sys.meta_path[:], sys.getswitchinterval()
    yield
    sys.meta_path[:] = finders
    sys.setswitchinterval(interval)


def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the last key be long ago."""
    now = time.monotonic() + 60
    monkeypatch.setattr("keen_tui.frontends.tui.terminal.import_throttle.time.monotonic", lambda: now)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[float]:
    """How long was paused; there are two modules to import."""
    taken: list[float] = []
    later(monkeypatch)
    monkeypatch.setattr("keen_tui.frontends.tui.terminal.import_throttle.time.sleep", taken.append)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("lazy_one", "lazy_two"):
        (tmp_path / f"{name}.py").touch()
        monkeypatch.delitem(sys.modules, name, raising=False)
    import_throttle.begin()
    import_throttle.begin()
    return taken


def in_thread(name: str) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(importlib.import_module, name).result()


def test_an_import_in_a_thread_pauses_after_a_key(pauses: list[float]) -> None:
    import_throttle.key_came()
    assert sys.getswitchinterval() == pytest.approx(0.001)
    in_thread("lazy_one")
    assert pauses == [0.000_3]


def test_an_import_without_a_key_goes_on_at_full_speed(
    pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    import_throttle.key_came()
    later(monkeypatch)
    in_thread("lazy_one")
    assert pauses == []
    assert sys.getswitchinterval() == pytest.approx(0.005)


def test_the_event_loop_itself_never_pauses(pauses: list[float]) -> None:
    import_throttle.key_came()
    importlib.import_module("lazy_two")
    assert pauses == []
