"""Reads lines and keys in the main thread, because only there a signal can end the wait for a line. So a
question can interrupt an unfinished line, which comes back after it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Final, Literal

from msgspec import Struct

from keen_tui.frontends.line.terminal_line import (
    TerminalLine,
    end_row,
    more_waits,
    remember,
    terminal_kept,
    typed_before,
)
from keen_tui.system.signal_wakeup import nudged

InputKind = Literal["line", "interrupt", "end", "hangup"]

_ROOM_WITHIN: Final = 0.2
"""Seconds within which the main thread ends a row that is in the way."""
_MORE: Final = "More: "
_KEYS: Final[dict[int, InputKind]] = {
    signal.SIGINT: "interrupt",
    signal.SIGTERM: "hangup",
    signal.SIGHUP: "hangup",
    signal.SIGQUIT: "hangup",
}
_POKE: Final = signal.SIGUSR1


class LinePrompt(Struct, frozen=True, kw_only=True):
    """A prompt for the next line.

    `question` is the number of the question that the line answers, 0 for none; text typed before the question
    appeared doesn't answer it. `draft` is the beginning of a message, unless one was begun before; `earlier`
    are lines for the arrow keys. `hidden` text isn't shown. The prompt was requested `after` so many inputs;
    a later input makes it void.
    """

    words: str = ""
    question: int = 0
    draft: str = ""
    earlier: tuple[str, ...] = ()
    hidden: bool = False
    after: int = 0


class Typed(Struct, frozen=True, kw_only=True):
    """An input: a line, or a key such as ctrl+c. For a key, the text is what was typed and not sent. A line
    that was `begun_before` its question doesn't answer it; it is kept as the draft of a message."""

    kind: InputKind
    text: str = ""
    question: int = 0
    begun_before: bool = False


class _LookUp(Exception):
    """The wait for a line is over: another prompt takes its place, or a key was pressed."""


class Keyboard:
    """Reads one line for each prompt. `ask`, `close` and `make_room` are for other threads."""

    def __init__(self) -> None:
        self._line = TerminalLine()
        self._prompts: SimpleQueue[LinePrompt | None] = SimpleQueue()
        self._is_closed = False
        self._wanted: LinePrompt | None = None
        self._handed_over = 0
        self._question = 0
        self._unfinished = 0
        self._is_writing = False
        self._key: InputKind | None = None
        self._put_away = ""
        self._waiting = False
        self._reading = False
        self._words = ""
        self._draft = ""
        self._begun: list[str] = []
        self._room: threading.Lock | None = None

    def ask(self, prompt: LinePrompt) -> None:
        """Ask for a line with this prompt, replacing an open one."""
        self._prompts.put(prompt)
        self._poke()

    def close(self) -> None:
        """Read no more."""
        self._is_closed = True
        self._prompts.put(None)
        self._poke()

    def make_room(self) -> None:
        """Make room for output: end the row if it has a prompt or a half-typed line."""
        if self._reading:
            room = threading.Lock()  # the only thing to wait for that a signal handler may use
            room.acquire()
            self._room = room
            self._poke()
            room.acquire(timeout=_ROOM_WITHIN)

    def serve(self, hand_over: Callable[[Typed], None]) -> None:
        """Read in the main thread until `close`, inside of `signals`."""

        def counted(typed: Typed) -> None:
            self._handed_over += 1
            hand_over(typed)

        with terminal_kept():
            while (prompt := self._next_prompt(counted)) is not None:
                try:
                    counted(self._read(prompt))
                except _LookUp:
                    continue
                except KeyboardInterrupt:  # CPython's own, for a wait that ended while it lost why
                    self._wanted = self._wanted or prompt
                except EOFError:
                    end_row()
                    counted(Typed(kind="end"))

    @contextmanager
    def signals(self) -> Iterator[None]:
        """Inside, signals are keys: they interrupt nothing but the wait for a line."""
        handlers = {_POKE: self._poked, **dict.fromkeys(_KEYS, self._pressed)}
        before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        try:
            with nudged(lambda: self._reading or self._waiting):
                yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _next_prompt(self, hand_over: Callable[[Typed], None]) -> LinePrompt | None:
        """Wait for the newest prompt; None if no more lines are wanted."""
        while not self._is_closed:
            try:
                self._waiting = True
                if self._key is None:
                    wanted, self._wanted = self._wanted, None
                    return wanted if wanted and self._prompts.empty() else self._newest()
            except _LookUp:
                pass
            finally:
                self._waiting = False
            key, typed = self._key, self._put_away
            self._key, self._put_away = None, ""
            if key:
                hand_over(Typed(kind=key, text=typed))
        return None

    def _newest(self) -> LinePrompt | None:
        """The newest prompt that isn't void; waits for one. None if no more lines are wanted."""
        prompt = self._prompts.get()
        while prompt and (prompt.after < self._handed_over or not self._prompts.empty()):
            prompt = self._prompts.get()
        return prompt

    def _is_asked_already(self, prompt: LinePrompt | None) -> bool:
        """Whether the open line already belongs to this prompt."""
        if prompt is None or prompt.draft or prompt.earlier:
            return False
        return prompt.question == self._question and self._line.stands(prompt.words)

    def _read(self, prompt: LinePrompt) -> Typed:
        self._question = prompt.question
        remember(prompt.earlier)
        if not prompt.question:
            return Typed(kind="line", text=self._message(prompt))
        begun = typed_before()
        if begun.strip() or self._is_writing:  # the same question may be asked again before its line arrives
            self._unfinished = 0 if begun.endswith("\n") else prompt.question
        self._is_writing = False
        self._draft += begun.replace("\n", " ")
        lines = [self._one_line(prompt.words, hidden=prompt.hidden)]
        while not prompt.hidden and more_waits():  # pasted: a number in it answers nothing
            lines.append(self._one_line(""))
        text = "\n".join(lines)
        begun_before = self._unfinished == prompt.question and not prompt.hidden
        self._unfinished = 0
        if begun_before:
            self._draft += text.replace("\n", " ")
        return Typed(kind="line", text=text, question=prompt.question, begun_before=begun_before)

    def _message(self, prompt: LinePrompt) -> str:
        """Lines that end with a backslash, and those that come at once, are one message."""
        words, goes_on = prompt.words, True
        self._draft = self._draft or prompt.draft
        while goes_on:
            line = self._one_line(words)
            self._draft = ""
            at_once, is_open = more_waits(), line.endswith("\\")
            self._begun.append(line.removesuffix("\\"))
            goes_on, words = at_once or is_open, "" if at_once else _MORE
        text, self._begun = "\n".join(self._begun), []
        remember((text,))
        return text

    def _one_line(self, words: str, *, hidden: bool = False) -> str:
        """A line. While waiting, other prompts and keys are handled."""
        self._line.begin()
        self._reading, self._words = True, words
        try:
            if self._key or self._is_closed or not self._prompts.empty():
                raise _LookUp  # it arrived before the wait could be interrupted
            if hidden:
                return self._line.read_hidden(words)
            return self._line.read(words, "" if self._question else self._draft)
        except SystemError as error:  # raised by CPython for a second signal right after the first
            if self._reading:
                raise
            raise _LookUp from error
        finally:
            self._reading = False

    def _poke(self) -> None:
        if self._reading:
            signal.pthread_kill(threading.main_thread().ident or 0, _POKE)

    def _poked(self, number: int, frame: object) -> None:
        if room := self._room:
            self._room = None
            self._line.end_row()
            room.release()
        if self._line.is_done:
            return  # checked after it was handed over
        if room and self._reading and self._words and not self._line.is_open:
            self._look_up()  # output now would come between the prompt and its line
        if self._reading and not self._prompts.empty():
            self._wanted = self._newest()
            if not self._is_asked_already(self._wanted):
                self._look_up()
            self._wanted = None

    def _pressed(self, number: int, frame: object) -> None:
        """A key arrived as a signal. It is noted before any call: while the exception of another handler is
        passing through CPython's `input`, every call in this one fails."""
        if self._key != "hangup":
            self._key = _KEYS[number]
        is_reading = self._reading and not self._line.is_done
        if is_reading:
            self._line.end_row()
        if is_reading and not self._question:  # the arrow keys bring it back
            self._put_away, self._draft = "\n".join((*self._begun, self._line.typed)), ""
            self._begun = []
            remember((self._put_away,))
        if is_reading or self._waiting:
            self._reading = self._waiting = False
            raise _LookUp

    def _look_up(self) -> None:
        """End the wait for a line; the typed part of a message is kept."""
        self._reading = False
        if not self._question:
            self._draft = self._line.typed or self._draft
            self._is_writing = bool(self._line.typed)
        raise _LookUp
