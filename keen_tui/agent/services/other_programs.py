"""Other programs of Keen's in the same folder: the person is told when one comes or goes, and who changed a
file."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from keen_tui.agent.session import Session
from keen_tui.domain.bus import Subscription
from keen_tui.domain.events import Event, Notice, NoticeOver, SessionOpened, SessionRenamed, TurnStarted
from keen_tui.storage.checkpoints.blobs import hash_of
from keen_tui.storage.checkpoints.change_log import LOG, turn_that_wrote
from keen_tui.system.presence import Presence, Present
from keen_tui.text.sanitize import clean
from keen_tui.text.units import first_line
from keen_tui.tools.work_tree.hints import Hints

_LONGEST: Final = 60


class Neighbours:
    """The other programs in the folder of a session.

    Nothing runs while nothing happens: on Linux the kernel tells when one comes or goes, elsewhere it is
    noticed when a turn starts.

    Args:
        checkpoints_of: the folder with what a session has changed, by its id.
    """

    def __init__(self, session: Session, presence: Presence, checkpoints_of: Callable[[str], Path]) -> None:
        self._session = session
        self._presence = presence
        self._checkpoints_of = checkpoints_of
        self._here: dict[tuple[int, float], Present] = {}
        self._seen: dict[str, Present] = {}
        self._said: dict[tuple[int, float], str] = {}
        """The sentence that was said about each of the other programs here."""
        self._untold: list[str] = []
        self._hints = Hints()
        self._session_id = self._title = ""
        self._has_entered = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._following: asyncio.Task[None] | None = None

    def enter(self) -> tuple[str, ...]:
        """Be seen from now on. Returns a sentence for each program that is here already. Blocks."""
        self._has_entered = True
        self._presence.enter()
        self._note(self._presence.others())
        self._said = {
            key: f"Another Keen is working in this folder: {_named(each)}."
            for key, each in self._here.items()
        }
        return tuple(self._said.values())

    def start(self) -> None:
        """Follow the session and the folder from now on, in this event loop."""
        if not self._has_entered:
            self._untold += self.enter()
        wants = {TurnStarted, SessionRenamed, SessionOpened}
        reader = self._session.bus.subscribe(wants=lambda event: type(event) in wants)
        self._following = asyncio.create_task(self._follow(reader), name="neighbours")
        self._loop = asyncio.get_running_loop()
        self._session.state.open.setup.toolbox.known.author = self.author
        self._hints.watch(str(self._presence.folder), "")
        if self._hints.descriptor is not None:
            asyncio.get_running_loop().add_reader(self._hints.descriptor, self._touched)

    def author(self, path: Path, content: bytes | None) -> str:
        """Which session wrote that content to the file, as the end of "changed by"; "" if none of those that
        were here is known to have. Tells the person about it. Blocks; called in a thread."""
        seen = {**self._seen, **{each.session: each for each in self._presence.others()}}
        wanted = hash_of(content)
        for each in reversed(seen.values()):
            turn = turn_that_wrote(self._checkpoints_of(each.session) / LOG, path, wanted)
            if each.session and turn is not None:
                title = f" “{clean(each.title)}”" if each.title else ""
                by = f"another Keen session{title} in its turn {turn}"
                self._say_soon(f"{clean(path.name)} was changed by {by}, so it has to be read again.")
                return by
        return ""

    def _say_soon(self, sentence: str) -> None:
        """From a thread: tell the person."""
        if self._loop:
            with suppress(RuntimeError):  # the loop is closed: the program is ending
                self._loop.call_soon_threadsafe(self._say, sentence)

    def _say(self, sentence: str) -> None:
        self._session.bus.publish(Notice(turn=self._session.turn, text=sentence))

    async def close(self) -> None:
        """Be seen no more."""
        if self._hints.descriptor is not None:
            asyncio.get_running_loop().remove_reader(self._hints.descriptor)
            self._hints.close()
        if self._following:
            self._following.cancel()
            with suppress(asyncio.CancelledError):
                await self._following
        self._presence.leave()

    async def _follow(self, events: Subscription) -> None:
        async for batch in events:
            for event in batch:
                self._take(event)
            self._presence.note(self._session_id, _short(self._title))
            self._look()

    def _take(self, event: Event) -> None:
        match event:
            case SessionOpened():
                self._session_id, self._title = event.id, event.title
            case SessionRenamed():
                self._title = event.title
            case TurnStarted() if event.text and not self._title:
                self._title = first_line(event.text)

    def _touched(self) -> None:
        self._hints.touched()
        self._look()

    def _look(self) -> None:
        """Tell the person who came and who went. An empty session would be saved for that alone, so it is
        told with the first turn, if it still holds then."""
        before = dict(self._here)
        self._note(self._presence.others())
        for key in [key for key in self._here if key not in before]:
            self._said[key] = f"Another Keen has started in this folder: {_named(self._here[key])}."
            self._untold.append(self._said[key])
        for key in [key for key in before if key not in self._here]:
            said = self._said.pop(key)
            if said in self._untold:
                self._untold.remove(said)
                continue
            self._session.bus.publish(NoticeOver(text=said))
            self._untold.append(f"The other Keen in this folder has ended: {_named(before[key])}.")
        if self._session.turn:
            for sentence in self._untold:
                self._say(sentence)
            self._untold.clear()

    def _note(self, others: Iterable[Present]) -> None:
        self._here = {(each.pid, each.since): each for each in others}
        self._seen |= {each.session: each for each in self._here.values() if each.session}


def _short(title: str) -> str:
    line = first_line(clean(title)).strip()
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _named(each: Present) -> str:
    title = f", “{clean(each.title)}”" if each.title else ""
    return f"process {each.pid}, since {time.strftime('%H:%M', time.localtime(each.since))}{title}"
