"""Reads from and writes to the terminal. A paste is one text, however long it is and whatever it contains. A
terminal that doesn't read doesn't block the program."""

from __future__ import annotations

import logging
import os
import re
import selectors
import signal
import termios
import time
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from queue import Empty, Full, Queue
from typing import Any, Final

from textual import events
from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.constants import ESCAPE_DELAY
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from keen_tui.frontends.tui.terminal import import_throttle, skeleton
from keen_tui.frontends.tui.terminal.early_keys import KeyRead
from keen_tui.frontends.tui.terminal.output import TerminalOutput, ends_while_moving

_log = logging.getLogger(__name__)

_SEQUENCE: Final = re.compile(r"\x1b?[^\x1b]+|\x1b")
_LARGEST: Final = 10_000
"""Columns or rows that a terminal has at most."""
_BEGIN: Final = "\x1b[200~"
_END: Final = "\x1b[201~"
_CHUNK: Final = 65_536
_PATIENCE: Final = 0.1
"""Seconds without input after which the parser is asked whether a lone escape is a key."""
_SILENCE: Final = 0.03
"""Seconds without input after which a paste is over that had its end mark: nobody types as fast."""
_MORE_BEHIND_A_LINE: Final = re.compile(r"[\r\n][^\x00-\x1f\x7f].{7,}", re.DOTALL)
"""Eight characters: over a slow line what somebody types behind Enter may come with it."""
_MUCH: Final = 1_000
"""Characters that nobody types within one read."""
_NO_TEXT: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_LOST: Final = 2.0
"""Seconds without input after which one is over whose end mark does not come."""
_MUCH_WAITING: Final = 15
"""Pieces of output. If more wait when the terminal is given back, it gets none of them: the queue needs room
for what gives it back."""
_STILL: Final = 1.0
"""Seconds without progress after which the terminal counts as unread, and isn't waited for."""
_GIVING_BACK: Final = 10.0
"""Seconds that giving a slow terminal back may take."""
_SIGNAL_LOOKS: Final = 500
"""How often `stop_job` looks for the signal, at least a millisecond apart."""
_PICTURE_ENDS: Final = "\x1b[?2026l"


class _KeyParser(XTermParser):
    """Textual's parser, which can also be told that nothing came for a while."""

    def pause(self) -> Iterable[Message]:
        """The messages for what waits for more that did not come, such as a lone escape."""
        if self._timeout_time is not None:
            self._timeout_time = 0.0
        return self.tick()


class PasteParser:
    """Textual's parser, but for pastes, and for what it stumbles over: that is passed over.

    Textual's own reads a paste character by character, a second for 150 kB, and gives keys for some of what
    stands behind an escape character in it: one of them may be enter. Here a paste is over with the last end
    mark before a silence. What was slipped in behind a mark is text; so are keys typed in that very moment
    between two pastes. A terminal that marks no pastes sends them as keys: text that goes on behind a line
    end within one read is one, as nobody types that fast.
    """

    def __init__(self, debug: bool = False) -> None:
        self._debug = debug
        self._parser = _KeyParser(debug)
        self._pasted: list[str] | None = None
        self._has_end = False
        self._held = ""

    @property
    def wants_silence(self) -> bool:
        """Whether `silence` has to be called when nothing comes for a while."""
        return self._pasted is not None

    def feed(self, data: str, *, is_typed: bool = False) -> Iterable[Message]:
        """The messages for what was read; "" ends the input. Of what `is_typed` lines are no paste."""
        if not data:
            yield from self._keys(self._held)
            with suppress(EOFError, ParseError):
                yield from self._parser.feed("")
            return
        data, self._held = self._held + data, ""
        if self._pasted is None:
            keys, begin, data = data.partition(_BEGIN)
            keys = keys if begin else self._hold_back(keys)
            if not begin and not is_typed and _are_lines(keys):
                self._pasted, self._has_end = [keys], True
                return
            yield from self._keys(keys)
            if not begin:
                return
            self._pasted, self._has_end = [""], False
        before = self._pasted[-1][1 - len(_END) :]
        self._has_end = self._has_end or _END in before + data
        self._pasted.append(data)

    def silence(self, seconds: float) -> Iterable[Message]:
        """The messages for what is complete when nothing has come for so long."""
        if self._pasted is None or seconds < (_SILENCE if self._has_end else _LOST):
            return
        whole, self._pasted = "".join(self._pasted), None
        text, end, rest = whole.rpartition(_END)
        yield events.Paste((text if end else whole).replace("\0", ""))
        if end and rest:
            yield from self.feed(rest)

    def pause(self, seconds: float) -> Iterable[Message]:
        """The messages for what is complete when nothing had come for so long, whenever that was."""
        yield from self.silence(seconds)
        if seconds >= ESCAPE_DELAY:
            yield from self._parsed(self._parser.pause())

    def tick(self) -> Iterable[Message]:
        """The messages for what is complete as nothing has come behind it, such as a lone escape."""
        yield from self._parsed(self._parser.tick())

    def _keys(self, text: str) -> Iterator[Message]:
        """The messages for text, sequence by sequence: one that can't be understood is lost alone."""
        for sequence in _SEQUENCE.findall(text):
            yield from self._parsed(self._parser.feed(sequence))

    def _parsed(self, messages: Iterable[Message]) -> Iterator[Message]:
        try:
            yield from (message for message in messages if _can_be(message))
        except Exception:
            _log.warning("the terminal sent something that isn't a key", exc_info=True)
            self._parser = _KeyParser(self._debug)

    def _hold_back(self, text: str) -> str:
        """The text without the beginning of a begin mark at its end, which waits for the rest."""
        for length in range(len(_BEGIN) - 1, 2, -1):
            if text.endswith(_BEGIN[:length]):
                self._held = text[-length:]
                return text[:-length]
        return text


def _can_be(message: Message) -> bool:
    """Whether it is no size that no terminal has."""
    return not isinstance(message, events.Resize) or max(message.size) <= _LARGEST


def _are_lines(text: str) -> bool:
    """Whether it is text with more of it behind a line end, or a long one, and no other key."""
    is_much = len(text) >= _MUCH or _MORE_BEHIND_A_LINE.search(text) is not None
    return is_much and _NO_TEXT.search(text) is None


class KeenDriver(LinuxDriver):
    """Textual's driver with that parser, with job control as a shell knows it, and without waiting for the
    terminal.

    Textual stops only its own process, by a signal that can't be ignored: behind `make run` or without a
    shell nobody could bring it back. Its event loop waits for a terminal that doesn't read, so that the turn
    stands still and signals have no effect; if the terminal is gone, this lasts forever.
    """

    _cooked = 0
    """Bytes still to be read that were typed before the terminal was this program's."""
    _is_taken = False
    """Whether the terminal is this program's."""
    _is_loop_asked = False
    _asked: Callable[[], object] | None = None
    """Called in the event loop after the newest signal."""

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        assert self._file is not None
        self._output = TerminalOutput(self._file, self._rested)
        self._file = self._output  # type: ignore[assignment]
        self._has_missed = False

    def start_application_mode(self) -> None:
        """Take the terminal. It gets back the modes that it had before the program's first picture."""
        self._is_taken = True
        super().start_application_mode()  # type: ignore[no-untyped-call]
        if skeleton.modes_before is not None:
            self.attrs_before = skeleton.modes_before

    def resume_application_mode(self) -> None:
        """Take the terminal again. What was typed for this program before counts, too."""
        with suppress(termios.error):
            self._cooked = skeleton.silence(self.fileno)
        super().resume_application_mode()

    def stop_application_mode(self) -> None:
        """Give the terminal back. If it is far behind, it gets none of the pictures that wait."""
        self._is_taken = False
        if self._queue.qsize() > _MUCH_WAITING:
            self._drop_waiting()
            self.write(_PICTURE_ENDS)
        super().stop_application_mode()

    def write(self, data: str) -> None:
        """Write without waiting for the terminal. If it is far behind, it misses pictures; as soon as it has
        read the rest, it gets a whole one."""
        try:
            self._queue.put_nowait(data)
        except Full:
            self._has_missed = True
            if self._queue.empty():  # it has been read meanwhile
                self._rested()

    def close(self) -> None:
        """Wait until the terminal has got everything. One that doesn't read is left as it is."""
        if self._writer_thread is None:
            return
        try:
            self._queue.put_nowait(None)
        except Full:
            self._drop_waiting()
            self._queue.put_nowait(None)
        if not ends_while_moving(self._writer_thread, self._output.taken, still=_STILL, most=_GIVING_BACK):
            _log.warning("the terminal didn't read what gives it back to the shell")

    @property
    def _queue(self) -> Queue[str | None]:
        """The output that waits for the terminal."""
        assert self._writer_thread is not None, "the terminal was not taken"
        return self._writer_thread._queue

    def _drop_waiting(self) -> None:
        with suppress(Empty):
            while True:
                self._queue.get_nowait()

    def _rested(self) -> None:
        """The terminal has read everything. Runs in any thread."""
        if self._has_missed:
            self._has_missed = False
            self._soon(self._app.refresh)

    def suspend_job(self) -> bool:
        """Give the terminal back and stop, with all of the job, until the shell brings that to the foreground
        again. False: there is no shell that could, so nothing was stopped."""
        self._app.app_suspend_signal.publish(self._app)
        continued: list[int] = []
        on_stop = signal.signal(signal.SIGTSTP, signal.SIG_IGN)  # it stops already
        on_continue = signal.signal(signal.SIGCONT, lambda number, _: continued.append(number))
        was_continued = False
        try:
            self.suspend_application_mode()
            signal.signal(signal.SIGTSTP, signal.SIG_DFL)
            while stop_job(continued):
                was_continued = True
                if self._is_in_foreground():
                    break  # else it was the shell's bg: it can't draw there
        finally:
            self._take_back()
            signal.signal(signal.SIGTSTP, on_stop)
            signal.signal(signal.SIGCONT, on_continue)
        return was_continued

    def _take_back(self) -> None:
        self._must_signal_resume = True
        self.resume_application_mode()

    def _is_in_foreground(self) -> bool:
        try:
            return os.tcgetpgrp(self.fileno) == os.getpgrp()
        except OSError:  # the terminal is gone: reading it ends the program
            return True

    def _sigtstp_application(self, *_: object) -> None:
        """The signal came from outside. While an editor has the terminal there is nothing to give back."""
        if self._is_taken:
            self._ask_loop(self.suspend_job)
        else:
            os.kill(os.getpid(), signal.SIGSTOP)

    def _sigcont_application(self, *_: object) -> None:
        """Somebody stopped the program by a signal that it never saw: modes and picture may be gone."""
        if self._is_taken:
            self._ask_loop(self._take_again)

    def _ask_loop(self, act: Callable[[], object]) -> None:
        """Have the loop do what the newest signal asks for: a handler may run in the middle of a start or an
        end of the application mode."""
        self._asked = act
        if not self._is_loop_asked:
            self._is_loop_asked = True
            self._soon(self._do_asked)

    def _do_asked(self) -> None:
        self._is_loop_asked = False
        act, self._asked = self._asked, None
        if act and self._is_taken:
            act()

    def _take_again(self) -> None:
        if self._writer_thread is not None:  # None: stopped while it took the terminal for the first time
            self.suspend_application_mode()
        self._take_back()

    def _soon(self, act: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(act)

    def run_input_thread(self) -> None:
        """Read what the terminal sends until the program ends."""
        import_throttle.begin()
        parser = PasteParser(self._debug)
        decode = getincrementaldecoder("utf-8")("replace").decode
        early = skeleton.early_pieces()
        self._cooked = self._cooked or (skeleton.typed_before if early else 0)
        self._process(early_messages(early, parser, partial(self._fed, parser, decode)))
        last = time.monotonic()
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                ready = selector.select(_SILENCE if parser.wants_silence else _PATIENCE)
                read = os.read(self.fileno, _CHUNK) if ready else None
                if read == b"":  # the terminal is gone
                    self._soon(self._app.exit)
                    break
                if read:
                    import_throttle.key_came()
                    last = time.monotonic()
                    self._process(self._fed(parser, decode, read))
                else:
                    import_throttle.rest()
                    self._process(parser.silence(time.monotonic() - last))
                self._process(parser.tick())
        for _ in parser.feed(""):
            pass

    def _fed(self, parser: PasteParser, decode: Callable[[bytes], str], read: bytes) -> Iterable[Message]:
        is_typed = self._cooked > 0
        read, self._cooked = _uncooked(read, self._cooked)
        return parser.feed(decode(read), is_typed=is_typed)

    def _process(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self.process_message(message)


def stop_job(continued: Sequence[int], sleep: Callable[[float], object] = time.sleep) -> bool:
    """Stop all of the job, and return whether a shell has continued it. A handler adds the signal for that to
    `continued`. On a busy machine both signals may come some time later, and this runs on until they do."""
    before = len(continued)
    os.kill(0, signal.SIGTSTP)
    for _ in range(_SIGNAL_LOOKS):  # a clock would count the time that the job stands still, too
        if len(continued) > before:
            return True
        sleep(0.001)
    return False


def early_messages(
    early: Sequence[KeyRead], parser: PasteParser, feed: Callable[[bytes], Iterable[Message]]
) -> Iterator[Message]:
    """The messages for keys typed before the driver was there, each as if it were typed now. `feed` gives a
    piece to the parser."""
    for before, piece in pairwise((early[0], *early) if early else ()):
        yield from parser.pause(piece.at - before.at)
        if piece.data:
            yield from feed(piece.data)


def _uncooked(read: bytes, cooked: int) -> tuple[bytes, int]:
    """Bytes of which the first so many hold a line feed for each return, put right; how many such follow."""
    return read[:cooked].replace(b"\n", b"\r") + read[cooked:], max(cooked - len(read), 0)
