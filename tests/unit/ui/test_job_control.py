"""Stopping and continuing, where the order of signals matters."""

from __future__ import annotations

import signal

import pytest

from keen_tui.frontends.tui.terminal import driver


def test_it_waits_for_the_signal_however_long_the_job_stood_still(monkeypatch: pytest.MonkeyPatch) -> None:
    continued: list[int] = []
    moments: list[int] = []
    hours = iter(range(0, 10**9, 3_600))

    def sleep(_: float) -> None:
        moments.append(next(hours))
        if len(moments) == 20:
            continued.append(signal.SIGCONT)

    monkeypatch.setattr("os.kill", lambda *_: None)
    monkeypatch.setattr("time.monotonic", lambda: next(hours))
    assert driver.stop_job(continued, sleep)
    assert not driver.stop_job(continued, sleep)
