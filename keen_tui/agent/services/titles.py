"""Asks the model for a session's title, once, after its first turn is done."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from keen_tui.agent.session import Session
from keen_tui.domain.bus import Subscription
from keen_tui.domain.choices import Titles
from keen_tui.domain.errors import KeenError
from keen_tui.domain.events import Event, SessionOpened, SessionRenamed, TurnDone
from keen_tui.settings.config import is_loopback
from keen_tui.text.sanitize import clean
from keen_tui.text.units import first_line

log = logging.getLogger(__name__)

PROMPT: Final = """\
Below is the beginning of a conversation with a coding agent. Give it a title by which its user will find \
it again: at most six words, in the language of the conversation, no quotation marks, no full \
stop. Write nothing else."""

_PATIENCE: Final = 60.0
"""Seconds that a title may take."""
_MOST_ASKED: Final = 2_000
"""Characters of the message, and of the reply, that the model is shown."""
_MOST_CELLS: Final = 60
_WANTED: Final = {SessionOpened, SessionRenamed, TurnDone}
_AROUND: Final = " \t\"'`*_#.:“”„«»"


class Titler:
    """Reads the session's bus, and names the session when its first turn is done.

    Args:
        wanted: "remote" doesn't ask models on this machine: after another request they would have to read
            the conversation again.
        name: gives the session with this id a title.
    """

    def __init__(self, session: Session, wanted: Titles, name: Callable[[str, str], Awaitable[None]]) -> None:
        self._session = session
        self._wanted = wanted
        self._name = name
        self._id = ""
        self._is_named = False
        self._asking: asyncio.Task[None] | None = None
        self._naming: asyncio.Task[None] | None = None
        reader = session.bus.subscribe(wants=lambda event: type(event) in _WANTED)
        self._reading = asyncio.create_task(self._read(reader), name="titles")

    async def close(self) -> None:
        """Stop asking. A title that has arrived is saved."""
        self._stop_asking()
        self._reading.cancel()
        if self._naming:
            await self._naming

    async def _read(self, reader: Subscription) -> None:
        async for batch in reader:
            for event in batch:
                self._take(event)

    def _take(self, event: Event) -> None:
        match event:
            case SessionOpened():
                self._stop_asking()
                self._id, self._is_named = event.id, event.restoring
            case SessionRenamed():
                self._stop_asking()
                self._is_named = True
            case TurnDone() if not self._is_named and self._may_ask:
                self._is_named = True
                self._asking = asyncio.create_task(self._ask(self._id), name="title")

    @property
    def _may_ask(self) -> bool:
        is_local = is_loopback(self._session.identity.base_url)
        return self._wanted == "always" or (self._wanted == "remote" and not is_local)

    def _stop_asking(self) -> None:
        if self._asking:
            self._asking.cancel()
            self._asking = None

    async def _ask(self, session_id: str) -> None:
        """Ask. If no title comes, lists go on to show the session's first words."""
        beginning = self._session.conversation[:2]
        said = (f"{message.role}: {message.text[:_MOST_ASKED]}" for message in beginning)
        try:
            async with asyncio.timeout(_PATIENCE):
                answer = await self._session.answer_aside("\n\n".join((PROMPT, *said)))
        except (KeenError, TimeoutError) as error:
            log.info("no title came: %s", error)
            return
        self._asking = None
        if title := as_title(answer):
            self._naming = asyncio.create_task(self._give(session_id, title), name="name the session")

    async def _give(self, session_id: str, title: str) -> None:
        try:
            await self._name(session_id, title)
        except KeenError as error:
            log.warning("the title can't be kept: %s", error)


def as_title(answer: str) -> str:
    """A model's answer as a title: one line, without quotes and the like; "" if nothing is left."""
    title = clean(first_line(answer)).strip(_AROUND)
    return title if len(title) <= _MOST_CELLS else f"{title[:_MOST_CELLS].rstrip()}…"
