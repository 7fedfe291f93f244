"""Starts a compared program, types into it, and watches what it draws: the same for all of them."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import RecordedRequest, Reply, Say
from keen_tui.demo.threaded import serving
from tests.bench import process_tree
from tests.bench.answering import AnsweringTerminal, screens
from tests.bench.key_echo import read_for
from tests.bench.peer_programs import Peer
from tests.bench.programs import Place
from tests.bench.streaming import DELTA_SIZE, TEXTS

END = "ÄÖÜÄÖÜ"
"""The last word of a stream, in letters that are nowhere else: a program that redraws only the cells that
change then writes it in one piece."""

_MESSAGE = "go"
_KEY, _BACKSPACE = "ß", "\x7f"
_KEY_EVERY = 0.05
_LIMIT = 120.0
_TO_SETTLE = 6.0
"""Seconds from the first echo until something is measured that isn't about the start."""

_SECTION = re.compile(r"Section (\d{4})")
_TITLE = Reply([Say("A title")])


@dataclass(frozen=True, slots=True)
class Echoed:
    """From process start until a key was echoed: seconds, CPU seconds, and how many keys were pressed."""

    echo: float
    cpu: float
    pressed: int


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds and CPU seconds from process start until a key was echoed, seconds until the request came; how
    many keys were pressed that the message lacks; the bytes of the request."""

    echo: float
    cpu: float
    request: float
    lost: int
    size: int


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream that was watched. `share`: CPU from its first section to END, as a share of a processor.
    `paint_gap` and `text_gap`: the longest times, in seconds, between two pieces of output, and until a new
    section was on the screen. `missing`: the sections that were never there."""

    share: float
    paint_gap: float
    text_gap: float
    missing: int


def numbered(deltas: int) -> str:
    """Mixed Markdown in so many deltas; its sections are numbered, and its last word is END."""
    wanted, sections = deltas * DELTA_SIZE, TEXTS["mixed Markdown"]
    count = wanted // len(sections) + 1
    whole = "".join(sections.replace("Section", f"Section {number:04}") for number in range(1, count + 1))
    closing = f"\n\n{END}"
    return whole[: wanted - len(closing)] + closing


def first_sights(shown: Iterable[tuple[float, str]]) -> dict[int, float]:
    """When each section was first on the screen."""
    found: dict[int, float] = {}
    for when, screen in shown:
        for number in map(int, _SECTION.findall(screen)):
            found.setdefault(number, when)
    return found


def longest(moments: Iterable[float]) -> float:
    """The longest time between two moments that follow each other; 0 if there are fewer than two."""
    return max((end - begin for begin, end in pairwise(moments)), default=0.0)


@contextmanager
def ready(peer: Peer, where: Place, reply: Reply) -> Iterator[AnsweringTerminal]:
    """The program, started, with an empty composer and at rest, against a server that answers `ask` with the
    reply."""
    with _answering(reply) as server, peer.running(where, server.base_url) as program:
        program.type(_BACKSPACE * _press_until_echoed(program).pressed)
        read_for(program, _TO_SETTLE)
        yield program


def start(peer: Peer, where: Place) -> Start:
    """Start it, press a key until it is echoed, then at once type a message behind it and press Enter."""
    with _answering(_TITLE) as server, peer.running(where, server.base_url) as program:
        echoed = _press_until_echoed(program)
        program.type(f"{_MESSAGE}\r")
        program.wait_until(lambda: any(map(_is_asked, server.requests)), "the request", seconds=_LIMIT)
        request = time.perf_counter()
        found = next(filter(_is_asked, server.requests))
        lost = echoed.pressed - last_words(found).count(_KEY)
        return Start(echoed.echo, echoed.cpu, request - program.started_at, lost, len(found.raw))


def echo(peer: Peer, where: Place) -> Echoed:
    """Start a program without a model, and press a key until it is echoed."""
    with peer.running(where, "") as program:
        return _press_until_echoed(program)


def ask(program: AnsweringTerminal) -> None:
    """Send the message, and wait until the last word of the reply is drawn."""
    begin = len(program.output)
    program.type(f"{_MESSAGE}\r")
    program.read_until(END, since=begin, seconds=_LIMIT)


def watch(program: AnsweringTerminal, text: str) -> Stream:
    """The same with the stream of a numbered text, watched. The screens are looked at afterwards."""
    before = len(program.output)
    program.type(f"{_MESSAGE}\r")
    begin = program.read_until("Section", since=before, seconds=_LIMIT)
    spent = process_tree.cpu(program.pid)
    end = program.read_until(END, since=before, seconds=_LIMIT)
    spent = process_tree.cpu(program.pid) - spent
    sights = first_sights(screens(bytes(program.output), program.times))
    paints = [when for when, _ in program.times if begin <= when <= end]
    wanted = set(map(int, _SECTION.findall(text)))
    return Stream(
        share=spent / (end - begin),
        paint_gap=longest(paints),
        text_gap=longest(sorted(sights.values())),
        missing=len(wanted - set(sights)),
    )


def last_words(request: RecordedRequest) -> str:
    """The text of the last message of a request, in whatever API."""
    messages = request.body.get("input") or request.body.get("messages") or [{}]
    content: Any = messages[-1].get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _answering(reply: Reply) -> AbstractContextManager[ModelServer]:
    """A server that answers the message with the reply, and requests for a title and the like briefly."""
    return serving(ModelServer(lambda request: reply if _is_asked(request) else _TITLE))


def _is_asked(request: RecordedRequest) -> bool:
    return last_words(request).replace(_KEY, "") == _MESSAGE


def _press_until_echoed(program: AnsweringTerminal) -> Echoed:
    """Press a key 20 times a second, from the moment when the terminal passes keys unchanged."""
    limit = time.perf_counter() + _LIMIT
    while not program.takes_keys:
        program.read(0.002)
    pressed, wanted = 0, _KEY.encode()
    while wanted not in program.output:
        if time.perf_counter() > limit:
            raise TimeoutError(f"no key was echoed; on the screen:\n{program.screen()}")
        program.type(_KEY)
        pressed += 1
        until = time.perf_counter() + _KEY_EVERY
        while wanted not in program.output and (left := until - time.perf_counter()) > 0:
            program.read(left)
    seconds = time.perf_counter() - program.started_at
    return Echoed(seconds, process_tree.cpu(program.pid), pressed)
