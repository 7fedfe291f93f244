"""Signals are keys of the conversation line by line; none is lost."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from keen_tui.frontends.line import keyboard as module
from keen_tui.frontends.line.keyboard import Keyboard, LinePrompt, Typed


def fails(*_: object, **__: object) -> None:
    """Called while an exception is on its way, as CPython answers then."""
    raise SystemError("returned a result with an exception set")


def test_a_key_behind_a_signal_whose_exception_is_still_on_its_way_is_heard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keyboard, heard = Keyboard(), list[Typed]()

    def hand_over(typed: Typed) -> None:
        heard.append(typed)
        keyboard.close()

    with keyboard.signals(), Path(os.devnull).open(encoding="utf-8") as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        with monkeypatch.context() as every_call, suppress(SystemError):
            every_call.setattr(module, "Typed", fails)
            every_call.setattr(keyboard, "_line", fails)
            signal.raise_signal(signal.SIGINT)
        keyboard.ask(LinePrompt())
        keyboard.serve(hand_over)
    assert [typed.kind for typed in heard] == ["interrupt"]


def test_a_wait_that_ends_without_a_reason_is_begun_again(monkeypatch: pytest.MonkeyPatch) -> None:
    keyboard, heard, lines = Keyboard(), list[Typed](), iter(["first", "second"])
    asked: list[str] = []

    def read(words: str = "") -> str:
        asked.append(words)
        if len(asked) == 1:
            raise KeyboardInterrupt
        return next(lines)

    def hand_over(typed: Typed) -> None:
        heard.append(typed)
        keyboard.close()

    monkeypatch.setattr("builtins.input", read)
    with keyboard.signals(), Path(os.devnull).open(encoding="utf-8") as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        monkeypatch.setattr(module, "more_waits", lambda: False)
        keyboard.ask(LinePrompt(words="> "))
        keyboard.serve(hand_over)
    assert [typed.text for typed in heard] == ["first"]
    assert asked == ["> ", "> "]
