"""`make pictures`: the pictures of the README, taken from the real program while the tour plays in it.

Three of them are still pictures; tour.svg is animated. usage.svg is of a session of eight turns with a
scripted model.
"""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from textual.pilot import Pilot

from keen_tui.agent.session import Session
from keen_tui.agent.turn.audience import PERSON
from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.play import tour_session
from keen_tui.demo.threaded import serving
from keen_tui.demo.tour import FIRST_PROMPT
from keen_tui.domain.models import ModelInfo, Price
from keen_tui.frontends.shared.port import FrontEndSetup
from keen_tui.frontends.tui.app import KeenApp, UiSettings
from keen_tui.providers.registry import build_provider
from keen_tui.providers.wire.provider import Connection
from keen_tui.settings.schema import Settings
from keen_tui.wiring.sessions import SessionProgram, build_session
from tests.support.cached_work import FILES, TURNS, CachingModel, all_replies
from tests.support.moving import Frame, film
from tests.support.svg import drawn_rows
from tests.support.waiting import until

FILM_LABEL = (
    "Keen TUI fixes a failing test. It asks before it edits the file. "
    "The connection breaks, ctrl+r continues from the last result, and the tests pass."
)
_STILL_SIZE, _FILM_SIZE, _USAGE_SIZE = (120, 36), (104, 30), (120, 20)
_BETWEEN_FRAMES, _A_FRAME = 0.35, 0.22
"""Seconds between two frames of live work, and for how long the film shows each."""
_FONT_FACES = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


class Recording:
    """The tour in the real program, driven by keys."""

    def __init__(self, app: KeenApp, pilot: Pilot[str | None]) -> None:
        self.app = app
        self.frames: list[Frame] = []
        self._pilot = pilot
        self._newest = 0.0

    async def press(self, *keys: str) -> None:
        await self._pilot.press(*keys)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until it holds, and film meanwhile.

        Raises:
            TimeoutError: it never held.
        """
        await until(holds, moment=self._film, says=lambda: "for the tour")

    async def _film(self) -> None:
        await self._pilot.pause(0.02)
        if time.monotonic() - self._newest >= _BETWEEN_FRAMES:
            self.shoot(_A_FRAME)

    async def until_asked(self, tool: str) -> None:
        """Wait until the question about a call of that tool takes keys."""
        await self.until(lambda: self.asks_for(tool))
        await self._pilot.pause(0.6)

    async def allow_before(self, reached: Callable[[], bool]) -> None:
        """Wait for this, and allow what is asked for meanwhile: where there is a sandbox, a command that can
        only read runs without a question."""
        while not reached():
            await self.until(lambda: reached() or self.asks_for("bash"))
            if self.asks_for("bash"):
                await self.until_asked("bash")
                self.shoot(2.5)
                await self.allow("bash")

    async def allow(self, tool: str) -> None:
        await self.press("1", "enter")
        await self.until(lambda: not self.asks_for(tool))

    async def until_broken_off(self) -> None:
        await self.until(lambda: self.app.workspace.state.pending is not None)
        await self._pilot.pause(1.0)

    @property
    def is_done(self) -> bool:
        """Whether the newest turn is done."""
        return self.app.workspace.state.turns[-1].status == "done"

    async def until_done(self) -> None:
        await self.until(lambda: self.is_done)
        await self._pilot.pause(1.0)

    def shoot(self, seconds: float) -> None:
        """Film the current screen, to be shown for so long."""
        self._newest = time.monotonic()
        self.frames.append(Frame(tuple(drawn_rows(self.app)), seconds))

    def save(self, file: Path) -> None:
        """Save the screen, without the web fonts of Textual: a picture must not need a network."""
        picture = _FONT_FACES.sub("", self.app.export_screenshot(title="keen-tui"))
        fonts = '"JetBrains Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace'
        file.write_text(re.sub(r"font-family: (Fira Code|arial)[^;]*;", f"font-family: {fonts};", picture))

    def asks_for(self, tool: str) -> bool:
        """Whether the question about a call of that tool is open."""
        approval = self.app.workspace.state.approval
        return approval is not None and approval.name == tool


@asynccontextmanager
async def recording(size: tuple[int, int], pace: float) -> AsyncIterator[Recording]:
    """The tour before its first message; `pace` is that of its model."""
    with tour_session(Settings(), pace=pace) as session:
        async with showing(session, size) as tour:
            yield tour


@asynccontextmanager
async def showing(session: Session, size: tuple[int, int]) -> AsyncIterator[Recording]:
    """The screen of this session."""
    app = KeenApp(lambda: FrontEndSetup(session=session, controls=session), UiSettings(theme="keen-dark"))
    async with app.run_test(size=size) as pilot:
        shown = Recording(app, pilot)
        await shown.until(lambda: app.live)
        shown.frames.clear()
        yield shown
        await session.close()


@contextmanager
def cached_session() -> Iterator[Session]:
    """A session with a scripted model that has a prompt cache and prices."""
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(ModelServer(CachingModel(all_replies()))) as server,
    ):
        for name, text in FILES.items():
            (Path(folder) / name).write_text(text)
        price = Price(input=3.0, output=15.0, cached_input=0.3)
        info = ModelInfo(provider="lab", id="scripted", api="openai-chat", price=price)
        provider = build_provider(info.api, Connection(model=info.id, base_url=server.base_url))
        yield build_session(
            Settings(mode="auto-edit"), Path(folder), provider, info, SessionProgram(audience=PERSON)
        )[0]


async def take_stills(folder: Path) -> None:
    """Play the first turn and write approval.svg, incomplete.svg and context.svg."""
    async with recording(_STILL_SIZE, pace=4) as tour:
        tour.app.suggest(FIRST_PROMPT)
        await tour.press("enter")
        await tour.allow_before(lambda: tour.asks_for("edit_file"))
        await tour.until_asked("edit_file")
        tour.save(folder / "approval.svg")
        await tour.allow("edit_file")
        await tour.until_broken_off()
        tour.save(folder / "incomplete.svg")
        tour.app.workspace.run("context")
        await tour.until(lambda: tour.app.screen is not tour.app.workspace)
        await asyncio.sleep(1.0)
        tour.save(folder / "context.svg")


async def take_usage(file: Path) -> None:
    """Play a session of eight turns and write what it used."""
    with cached_session() as session:
        async with showing(session, _USAGE_SIZE) as shown:
            for number, (words, _) in enumerate(TURNS, 1):
                session.submit(words)
                await shown.until(lambda number=number: _is_done(shown.app, number))  # type: ignore[misc]
            shown.app.workspace.run("usage")
            await shown.until(lambda: shown.app.screen is not shown.app.workspace)
            await asyncio.sleep(1.0)
            shown.save(file)


def _is_done(app: KeenApp, number: int) -> bool:
    turns = app.workspace.state.turns
    return len(turns) == number and turns[-1].status == "done"


async def take_film(file: Path) -> None:
    """Play the first turn, with its lost connection and the retry, and write that as one animated picture."""
    async with recording(_FILM_SIZE, pace=2.5) as tour:
        tour.shoot(1.0)
        await _write_the_message(tour)
        await tour.press("enter")
        await tour.allow_before(lambda: tour.asks_for("edit_file"))
        await _look_and_allow(tour, "edit_file")
        await tour.until_broken_off()
        still = len(tour.frames)
        tour.shoot(4.0)
        await tour.press("ctrl+r")
        await tour.allow_before(lambda: tour.is_done)
        await tour.until_done()
        tour.shoot(6.0)
        file.write_text(film(tour.frames, still, size=_FILM_SIZE, label=FILM_LABEL))


async def _write_the_message(tour: Recording) -> None:
    for at in range(0, len(FIRST_PROMPT), 4):
        await tour.press(*("space" if key == " " else key for key in FIRST_PROMPT[at : at + 4]))
        tour.shoot(0.15)
    tour.shoot(0.8)


async def _look_and_allow(tour: Recording, tool: str) -> None:
    await tour.until_asked(tool)
    tour.shoot(2.5)
    await tour.allow(tool)


async def take(folder: Path) -> None:
    """Write all pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    await take_stills(folder)
    await take_usage(folder / "usage.svg")
    await take_film(folder / "tour.svg")


if __name__ == "__main__":
    asyncio.run(take(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures")))
