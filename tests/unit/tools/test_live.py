"""Live output: pieces that fit together, wherever the stream was cut."""

from __future__ import annotations

import asyncio

from keen_tui.tools.process.bounded_output import CapturedOutput
from keen_tui.tools.process.live_output import INTERVAL, MOST_CHARACTERS, LiveOutput
from tests.support.loop_clock import LoopClock


class Shown:
    """What a person saw so far."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.live = LiveOutput(CapturedOutput(), self._take)
        self._clock = LoopClock()

    def _take(self, text: str, lines: int, size: int) -> None:
        self.pieces.append(text)

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    async def feed(self, chunk: bytes) -> None:
        """Feed a chunk, and let the time pass after which what can be shown of it is shown."""
        self.live.feed(chunk)
        await self._clock.move(0)
        await self._clock.move(1.2 * INTERVAL)


async def test_characters_and_escapes_cut_in_two_are_put_together() -> None:
    shown = Shown()
    for chunk in (b"caf\xc3", b"\xa9 \x1b[3", b"1mred\x1b", b"[0m\x1b]0;ti", b"tle\x07 end\r", b"\nnext"):
        await shown.feed(chunk)
    shown.live.close()
    assert shown.text == "café red end\nnext"


async def test_a_line_that_starts_again_gets_a_line_of_its_own() -> None:
    shown = Shown()
    for chunk in (b"10%", b"\r20%\r30%", b"\r40%\n", b"done\n"):
        await shown.feed(chunk)
    shown.live.close()
    assert shown.text == "10%\n30%\n40%\ndone\n"


async def test_a_flood_is_shown_seldom_and_from_its_end() -> None:
    shown = Shown()
    await shown.feed(b"first\n")
    for number in range(2_000):
        shown.live.feed(b"%d %s\n" % (number, b"x" * 100))
    await shown.feed(b"")
    assert shown.pieces[0] == "first\n"
    assert len(shown.pieces) == 2
    assert len(shown.pieces[1]) <= MOST_CHARACTERS
    assert shown.pieces[1].splitlines()[-1].startswith("1999 ")
    assert shown.pieces[1].splitlines()[0].endswith("x" * 100)


async def test_a_flood_from_another_thread_is_shown_at_most_once_an_interval() -> None:
    shown = Shown()
    loop = asyncio.get_running_loop()
    begin = loop.time()

    def flood() -> None:
        while len(shown.pieces) < 4:
            shown.live.feed("日本\n".encode() * 10_000)

    await asyncio.to_thread(flood)
    shown.live.close()
    assert len(shown.pieces) <= (loop.time() - begin) / INTERVAL + 2
    assert set(shown.text) == {"日", "本", "\n"}
