"""Sets the tour up: scratch project, model server in a thread, session. Also plays it as plain text."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from keen_tui.agent.session import Session
from keen_tui.agent.turn.audience import PERSON
from keen_tui.demo.guide import Guide
from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.project import run_tests_command, scratch_project
from keen_tui.demo.threaded import serving
from keen_tui.demo.tour import ATTEMPTS, CONTEXT_WINDOW, MODEL, TourModel
from keen_tui.domain.events import (
    ApprovalRequested,
    Event,
    TextDelta,
    TurnDone,
    TurnError,
    TurnIncomplete,
    TurnStarted,
)
from keen_tui.domain.models import ModelInfo, Price
from keen_tui.frontends.headless.sentences import progress_line
from keen_tui.providers.registry import build_provider
from keen_tui.providers.wire.provider import Connection
from keen_tui.settings.schema import Settings
from keen_tui.wiring.sessions import SessionProgram, build_session


@contextmanager
def tour_session(settings: Settings, pace: float) -> Iterator[Session]:
    """A session with the scripted model, in a scratch project; `settings` give the look and the mode."""
    with (
        scratch_project() as root,
        _this_python_first(),
        serving(ModelServer(TourModel(pace, run_tests_command()), models=(MODEL,))) as server,
    ):
        info = ModelInfo(
            provider="tour",
            id=MODEL,
            api=settings.api or "openai-chat",
            context_window=CONTEXT_WINDOW,
            price=Price(input=0.0, output=0.0, cached_input=0.0, cache_write=0.0),  # a script costs nothing
        )
        provider = build_provider(info.api, Connection(model=MODEL, base_url=server.base_url))
        settings = settings._replace(retry_attempts=ATTEMPTS)
        session, _ = build_session(settings, root, provider, info, SessionProgram(audience=PERSON))
        yield session


@contextmanager
def _this_python_first() -> Iterator[None]:
    """Let `python` in the tour's commands be the one that runs Keen, which may have pytest."""
    before = os.environ.get("PATH", "")
    os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), before))
    try:
        yield
    finally:
        os.environ["PATH"] = before


async def play_as_text(session: Session, out: TextIO) -> int:
    """Play the whole tour without a person: the keys are pressed by the tour itself, and said."""
    player = _TextPlayer(session, out)
    reader = session.bus.subscribe()
    player.welcome()
    player.send_next()
    try:
        async for batch in reader:
            for event in batch:
                player.play(event)
            if player.over:
                break
    finally:
        await session.close()
    return 0 if player.over == "done" else 1


class _TextPlayer:
    """Prints what happens and presses the key that the guide names."""

    def __init__(self, session: Session, out: TextIO) -> None:
        self.over = ""
        self._session = session
        self._out = out
        self._guide = Guide()
        self._in_text = False

    def welcome(self) -> None:
        self.explain(self._guide.welcome)

    def explain(self, words: str) -> None:
        self._line(f"\n   | {words}")

    def send_next(self) -> None:
        if prompt := self._guide.next_prompt:
            self._session.submit(prompt)

    def play(self, event: Event) -> None:
        if isinstance(event, TextDelta):
            self._out.write(event.text)
            self._in_text = True
        elif line := _shown(event):
            self._line(line)
        if words := self._guide.words(event):
            self.explain(words)
        self._press(event)

    def _press(self, event: Event) -> None:
        match event:
            case ApprovalRequested():
                self._line("   > enter")
                self._session.answer(event.id, allow=True)
            case TurnIncomplete():
                self._line("   > ctrl+r")
                self._session.retry()
            case TurnDone() if self._guide.next_prompt:
                self.send_next()
            case TurnDone():
                self.over = "done"
            case TurnError():
                self.over = "failed"

    def _line(self, text: str) -> None:
        if self._in_text:
            self._out.write("\n")
            self._in_text = False
        self._out.write(f"{text}\n")
        self._out.flush()


def _shown(event: Event) -> str | None:
    match event:
        case TurnStarted():
            return f"\n> {event.text}" if event.text else None
        case ApprovalRequested():
            return f"? {event.question}   {event.target}"
        case TurnIncomplete():
            return f"! turn incomplete: {event.detail}"
        case TurnError():
            return f"x turn failed: {event.detail}"
        case TurnDone():
            files = ", ".join(event.turn_memory.files_changed) or "none"
            failed = ", ".join(each.command for each in event.turn_memory.failed_bash) or "none"
            carried = f"{event.carried_bytes} of {event.trace_bytes} bytes"
            return f"+ turn {event.turn} done   files changed: {files}   failed: {failed}   carries {carried}"
    return progress_line(event)
