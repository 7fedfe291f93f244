"""Keen beside two other terminal agents, measured in one sitting, in turn and with the same functions.

Whoever measures installs them, each into a folder of its own. Python 3.12 or later for the first:

    python3.13 -m venv FOLDER/vibe
    FOLDER/vibe/bin/pip install mistral-vibe
    npm install --prefix FOLDER/codex @openai/codex
    PEER_VIBE=FOLDER/vibe/bin/vibe PEER_CODEX=FOLDER/codex/node_modules/.bin/codex make bench PARTS=peers

If pip doesn't find a version that Vibe pins, `uv pip install --override FILE mistral-vibe` takes the one that
FILE allows instead.

Without the variables, `vibe` and `codex` are looked up on PATH. One that isn't there is left out, and a row
says so. `peer_programs.py` has their configuration.

All run in a pseudo terminal of 120 x 40 that answers questions about itself. Each has a home of its own for
the whole sitting, and a first start there that isn't measured. CPU and memory are those of the process and
all its descendants; figures in seconds and milliseconds include waiting for a processor.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from keen_tui.demo.script import Reply, Say
from tests.bench import process_tree
from tests.bench.key_echo import read_for
from tests.bench.peer_driving import ask, echo, numbered, ready, start, watch
from tests.bench.peer_figures import Figures, markdown, write
from tests.bench.peer_programs import BARE_APP, KEEN, OTHERS, Peer
from tests.bench.programs import Place, place
from tests.bench.streaming import DELTA_SIZE, DELTAS, sdk_alone
from tests.bench.table import Row

OUT = Path("out")
START_ROUNDS, ROUNDS = 5, 3
SECONDS = 20
PACE = 200
"""Deltas a second."""
_AFTERWARDS = 3.0

Places = Mapping[str, Place]
"""The places of the programs, by name."""


def rows() -> Iterator[Row]:
    """All figures. Also prints and writes the table with a column for each program."""
    peers = [KEEN]
    for other in OTHERS:
        found = other.found()
        if found is None:
            what = f"{other.name}: not found, neither {other.executable} on PATH nor by {other.variable}"
            yield Row(what=what, value=0, unit="programs")
        else:
            peers.append(found)
    measured = _measured(peers)
    print(f"{markdown(measured)}\n")
    for figures in measured:
        yield from figures.rows()


def _measured(peers: Sequence[Peer]) -> list[Figures]:
    measured: list[Figures] = []
    with ExitStack() as stack:
        places = {peer.name: stack.enter_context(place()) for peer in (*peers, BARE_APP)}
        for peer in peers:
            start(peer, places[peer.name])
        for part in (_starts, _idle, _full_speed, _paced):
            measured += part(peers, places)
            write(measured, OUT)
    return measured


def _starts(peers: Sequence[Peer], places: Places) -> Sequence[Figures]:
    echoed = Figures("process start until a key is echoed", "s", "bare Textual app")
    spent = Figures("the same", "s CPU", "bare Textual app")
    lost = Figures("keys lost until then, of 20 a second", "")
    asked = Figures("process start until the first request, with Enter on that echo", "s", "bare Textual app")
    size = Figures("size of the first request", "kB")
    for _ in range(START_ROUNDS):
        bare = echo(BARE_APP, places[BARE_APP.name])
        echoed.reference.append(bare.echo)
        spent.reference.append(bare.cpu)
        asked.reference.append(bare.echo)
        for peer in peers:
            one = start(peer, places[peer.name])
            echoed.add(peer.name, one.echo)
            spent.add(peer.name, one.cpu)
            lost.add(peer.name, one.lost)
            asked.add(peer.name, one.request)
            size.add(peer.name, one.size / 1000)
    return echoed, spent, lost, asked, size


def _idle(peers: Sequence[Peer], places: Places) -> Sequence[Figures]:
    used = Figures(f"idle for {SECONDS} s", "% CPU")
    resident = Figures("memory, idle", "MB")
    processes = Figures("processes", "")
    for _ in range(ROUNDS):
        for peer in peers:
            with ready(peer, places[peer.name], Reply()) as program:
                before = process_tree.cpu(program.pid)
                read_for(program, SECONDS)
                used.add(peer.name, (process_tree.cpu(program.pid) - before) / SECONDS * 100)
                resident.add(peer.name, process_tree.memory(program.pid))
                processes.add(peer.name, len(process_tree.members(program.pid)))
    return used, resident, processes


def _full_speed(peers: Sequence[Peer], places: Places) -> Sequence[Figures]:
    what = f"{DELTAS:,} deltas at full speed, mixed Markdown"
    spent = Figures(f"{what}: Enter until the last word is drawn", "s CPU", "the SDK alone")
    settled = Figures(f"the same, and {_AFTERWARDS:.0f} s more", "s CPU", "the SDK alone")
    elapsed = Figures("Enter until the last word is drawn, by the clock", "s")
    resident = Figures("memory afterwards", "MB")
    reply = Reply([Say(numbered(DELTAS))], delta_size=DELTA_SIZE)
    for _ in range(ROUNDS):
        alone = sdk_alone(reply)
        spent.reference.append(alone)
        settled.reference.append(alone)
        for peer in peers:
            with ready(peer, places[peer.name], reply) as program:
                before, begin = process_tree.cpu(program.pid), time.perf_counter()
                ask(program)
                spent.add(peer.name, process_tree.cpu(program.pid) - before)
                elapsed.add(peer.name, time.perf_counter() - begin)
                read_for(program, _AFTERWARDS)
                settled.add(peer.name, process_tree.cpu(program.pid) - before)
                resident.add(peer.name, process_tree.memory(program.pid))
    return spent, settled, elapsed, resident


def _paced(peers: Sequence[Peer], places: Places) -> Sequence[Figures]:
    what = f"{PACE} deltas/s for {SECONDS} s"
    used = Figures(what, "% CPU")
    paint = Figures(f"{what}: longest gap between paints", "ms")
    text = Figures(f"{what}: longest time without a new section on the screen", "ms")
    missing = Figures(f"{what}: sections that were never on the screen", "")
    sent = numbered(PACE * SECONDS)
    reply = Reply([Say(sent)], delta_size=DELTA_SIZE, pace=1 / PACE)
    for _ in range(ROUNDS):
        for peer in peers:
            with ready(peer, places[peer.name], reply) as program:
                stream = watch(program, sent)
                used.add(peer.name, stream.share * 100)
                paint.add(peer.name, stream.paint_gap * 1000)
                text.add(peer.name, stream.text_gap * 1000)
                missing.add(peer.name, stream.missing)
    return used, paint, text, missing
