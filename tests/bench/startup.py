"""From process start to the first picture, to the composer, and to the first request."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import inf

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Reply, Say
from keen_tui.demo.threaded import serving
from tests.bench.bare_app import ECHO, READY
from tests.bench.key_echo import Echo, blind_echoes, echo_rows, echoes, read_for
from tests.bench.programs import BARE, IN_WORKSPACE, PROMPT_SIGN, in_terminal, keen, place, watched
from tests.bench.table import Row
from tests.support.terminal import TerminalProgram

ROUNDS = 9
REQUEST_ROUNDS = 5
KEY_ROUNDS = 4

FORBIDDEN = frozenset({"openai", "anthropic", "httpx2", "pydantic", "pygments", "pyromark", "markdown_it"})
"""Packages that must not be loaded when the composer is first painted."""

REQUEST_BUDGET = 0.9 / 0.28
"""A first request within 0.9 s on a machine where a bare app echoes a key at 0.28 s."""

PAUSES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
"""Seconds from the first picture, when the message is typed, to Enter."""

MESSAGE = "hi there"

IMPORT_SDK = "import openai, openai.resources.chat.completions.completions; print('IMPORTED')"
SDK_ALONE = (sys.executable, "-c", IMPORT_SDK)
_ENOUGH_KEYS = 80


def rows() -> Iterator[Row]:
    """All measurements of the start."""
    yield from _first_paints()
    yield from _modules()
    yield from _keys_while_importing()
    yield from _keys_from_the_first_paint_on()
    yield from _first_requests()


@dataclass(frozen=True, slots=True)
class Times:
    """CPU seconds and elapsed seconds of each round."""

    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)

    def add(self, argv: tuple[str, ...], words: str) -> None:
        """Run a program until the words appear."""
        with place() as new, in_terminal(argv, new) as program:
            self.wall.append(program.wait_for(words) - program.started_at)
            self.cpu.append(program.cpu())


def _first_paints() -> Iterator[Row]:
    """CPU time and elapsed time until the words are drawn in the terminal, alternating between both
    programs."""
    bare, ours, sign = Times(), Times(), Times()
    for _ in range(ROUNDS):
        bare.add(BARE, READY)
        ours.add(keen(), PROMPT_SIGN)
        sign.add(keen(), "keen")
    yield Row(
        what="first paint: process start to composer",
        value=statistics.median(ours.cpu),
        unit="s CPU",
        reference=statistics.median(bare.cpu),
        against="bare Textual app",
        budget=1.2,
    )
    yield Row(
        what="the same by the clock",
        value=statistics.median(ours.wall),
        unit="s",
        reference=statistics.median(bare.wall),
        against="bare Textual app",
    )
    yield Row(
        what="first sign: the skeleton", value=statistics.median(sign.cpu) * 1000, unit="ms CPU", budget=50
    )


def _modules() -> Iterator[Row]:
    """The modules that are loaded when the first frame with the composer goes to the terminal."""
    with place() as new, in_terminal(watched("paint", new), new) as program:
        program.wait_for(PROMPT_SIGN)
        program.come_to_rest(0.5)
        loaded = set(new.ask(program)["modules"])
    found = FORBIDDEN & {name.partition(".")[0] for name in loaded}
    named = f": {', '.join(sorted(found))}" if found else ""
    yield Row(
        what=f"SDK, pydantic, pygments, Markdown parser before first paint{named}",
        value=len(found),
        unit="modules",
        budget=0,
    )
    yield Row(what="all modules before first paint", value=len(loaded), unit="modules")


def _keys_while_importing() -> Iterator[Row]:
    """Presses keys, each behind the echo of the one before; counts those during which other threads
    worked."""
    meanwhile: list[Echo] = []
    for _ in range(KEY_ROUNDS):
        with place() as new, in_terminal(keen(), new) as program:
            program.wait_for(PROMPT_SIGN)
            others, begin = _beside_loop(program), time.perf_counter()
            for each in echoes(program, lambda number: number < _ENOUGH_KEYS, pause=0.02):
                now, end = _beside_loop(program), time.perf_counter()
                if now - others > 0.2 * (end - begin):
                    meanwhile.append(each)
                others, begin = now, end
    yield from echo_rows("while the SDK is imported", meanwhile, 16)


def _keys_from_the_first_paint_on() -> Iterator[Row]:
    """Presses keys all the time until a second after the workspace has appeared, whether they are echoed or
    not: the longest wait is that of a key pressed at the worst moment. A key that waits for the echo of the
    one before is rarely pressed then."""
    longest: list[Echo] = []
    for _ in range(KEY_ROUNDS):
        with place() as new, in_terminal(keen(), new) as program:
            program.wait_for(PROMPT_SIGN)
            seen = blind_echoes(program, _until_shown(program), pause=0.03)
            longest.append(max(seen, key=lambda each: each.own))
    what = "keys pressed at any moment from the first paint on: longest echo"
    yield Row(what=what, value=statistics.median(each.own for each in longest), unit="ms", budget=33)
    yield Row(
        what=f"{what}, with waiting for a processor",
        value=statistics.median(each.whole for each in longest),
        unit="ms",
    )


def _until_shown(program: TerminalProgram) -> Callable[[], bool]:
    """True until a second after the workspace has appeared."""
    shown: list[float] = []

    def goes_on() -> bool:
        if not shown and IN_WORKSPACE.encode() in program.output:
            shown.append(time.perf_counter())
        return not shown or time.perf_counter() - shown[0] < 1

    return goes_on


def _beside_loop(program: TerminalProgram) -> float:
    """CPU seconds of all threads except the event loop's."""
    return program.cpu() - program.loop_cpu()


def _first_requests() -> Iterator[Row]:
    """Elapsed time, alternating with a bare app that echoes a key pressed at once, and with an import of the
    SDK."""
    requests, keys, sdk, bare = [], [], [], Times()
    lost = 0
    for pause in PAUSES:
        lost += _first_request(pause) is None
    for _ in range(REQUEST_ROUNDS):
        seconds = _first_request(0.0)
        lost += seconds is None
        requests.append(seconds or inf)
        keys.append(_bare_echo())
        bare.add(BARE, READY)
        sdk.append(_sdk_import())
    yield Row(
        what=f"first messages lost, with Enter 0 to {PAUSES[-1]} s behind the first picture",
        value=lost,
        unit="messages",
        budget=0,
    )
    yield Row(
        what="first request when Enter is pressed at once",
        value=statistics.median(requests),
        unit="s",
        reference=statistics.median(keys),
        against="key echo of a bare Textual app",
        budget=REQUEST_BUDGET,
    )
    yield Row(
        what="the same",
        value=statistics.median(requests),
        unit="s",
        reference=statistics.median(bare.wall) + statistics.median(sdk),
        against="bare app + import of the SDK alone",
    )


def _first_request(pause: float) -> float | None:
    """Seconds from process start, with Enter so many seconds after the message; None if the message isn't in
    the first request."""
    server = ModelServer(lambda _: Reply([Say("Hello.")]))
    with serving(server), place() as new, in_terminal(keen(server.base_url), new) as program:
        program.wait_for("keen")  # from here on the terminal passes keys unchanged
        program.type(MESSAGE)
        read_for(program, pause)
        program.type("\r")
        try:
            program.wait_until(lambda: bool(server.requests), "the first request", seconds=60)
        except TimeoutError:
            return None
        seconds = time.perf_counter() - program.started_at
        return seconds if server.requests[0].body["messages"][-1]["content"] == MESSAGE else None


def _bare_echo() -> float:
    with place() as new, in_terminal(BARE, new) as program:
        program.type("x")
        return program.wait_for(ECHO) - program.started_at


def _sdk_import() -> float:
    with place() as new, in_terminal(SDK_ALONE, new) as program:
        return program.wait_for("IMPORTED") - program.started_at
