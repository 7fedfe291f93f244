"""Given saved sessions for tests of the screen, with a record of the calls."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from pathlib import Path

from msgspec.structs import replace

from keen_tui.domain.choices import ExportFormat
from keen_tui.domain.errors import KeenError, SessionInUse, SessionRefused
from keen_tui.domain.reports import SavedSession, SearchHit

NOW = time.time()
HERE = Path("/home/me/shop")
ELSEWHERE = Path("/home/me/parser")


def saved(id: str, title: str, *, hours: float = 1, **known: object) -> SavedSession:
    """A session that was last used so many hours before NOW."""
    fields: dict[str, object] = {
        "workspace": HERE,
        "began": NOW - hours * 3600 - 60,
        "last_used": NOW - hours * 3600,
        "turns": 4,
        "size": 18_200,
    }
    return SavedSession(id=id, title=title, **(fields | known))  # type: ignore[arg-type]


def sessions() -> tuple[SavedSession, ...]:
    return (
        saved("s5", "Fix the cart total", hours=0, turns=1, size=920, in_use=True),
        saved("s4", "Add a discount to the cart", hours=2, turns=12, size=182_000),
        saved("s3", "Why is the import slow", hours=30, in_use=True),
        saved("s2", "", hours=80, turns=0, size=340, forked_from="s1"),
        saved("s1", "Release notes", hours=24 * 40, problem="Its file was written by a newer Keen TUI."),
        saved("p1", "Parse dates", hours=5, turns=7, workspace=ELSEWHERE),
    )


class FakeHistory:
    """Every call becomes a row in `calls`. Every change raises `refusal`; a session in `elsewhere` is open in
    another program. Lists, searches and changes wait for their event, except the newest sessions if it
    `lists_slowly`, and the first place if it `finds_slowly`."""

    def __init__(self, *kept: SavedSession, here: Path = HERE) -> None:
        self.session_id = "s5"
        self.keeps_pending = False
        self.kept = kept or sessions()
        self.here = here
        self.hits: dict[str, tuple[SearchHit, ...]] = {}
        self.elsewhere: set[str] = set()
        self.refusal = ""
        self.finds_slowly = self.lists_slowly = False
        self.calls: list[tuple[object, ...]] = []
        self._begun = 0
        self.listed, self.searched, self.changed = (_set_event() for _ in range(3))

    def keep_pending(self, durable: bool) -> None:
        self.keeps_pending = durable
        self.calls.append(("keep pending", durable))

    def keep_unasked(self) -> None:
        self.calls.append(("keep unasked",))

    async def sessions(
        self, *, everywhere: bool = False, most: int | None = None
    ) -> tuple[SavedSession, ...]:
        if most is None or not self.lists_slowly:
            await self.listed.wait()
        self._refuse()
        shown = (each for each in self.kept if everywhere or each.workspace == self.here)
        return tuple(sorted(shown, key=lambda each: -each.last_used))[:most]

    async def search(self, words: str) -> AsyncGenerator[tuple[SearchHit, ...], None]:
        self.calls.append(("search", words))
        found = self.hits.get(words, ())
        while self.finds_slowly and not self.searched.is_set():
            yield found[:1]
            await asyncio.sleep(0)
        await self.searched.wait()
        self._refuse()
        yield found

    async def begin(self) -> None:
        """Does nothing: the first session exists already."""

    async def new(self) -> None:
        await self._change("new")
        self._begin_another()

    async def promise(self) -> str:
        """Does nothing: no other program knows these sessions."""
        return ""

    async def open(self, session_id: str) -> None:
        if session_id in self.elsewhere:
            raise SessionInUse("Another program has this session open.")
        await self._change("open", session_id)
        self.session_id = session_id

    async def fork(self, session_id: str = "", turn: int = 0) -> None:
        await self._change("fork", session_id, turn)
        self._begin_another()

    def _begin_another(self) -> None:
        self._begun += 1
        self.session_id = f"new{self._begun}"

    async def rename(self, session_id: str, title: str) -> None:
        if not title.strip():
            raise SessionRefused("A title needs at least one word: /rename TITLE.")
        await self._change("rename", session_id, title)
        self.kept = tuple(replace(each, title=title) if each.id == session_id else each for each in self.kept)

    async def delete(self, session_id: str) -> None:
        if session_id == self.session_id:
            raise SessionRefused("This session is open: start another one first (/new).")
        await self._change("delete", session_id)
        self.kept = tuple(each for each in self.kept if each.id != session_id)

    async def export(self, format: ExportFormat, path: str = "") -> Path:
        await self._change("export", format, path)
        return self.here / (path or f"../exports/session.{format}")

    async def close(self) -> str:
        """Does nothing: there is nothing to save."""
        return ""

    async def _change(self, *call: object) -> None:
        self.calls.append(call)
        await self.changed.wait()
        self._refuse()

    def _refuse(self) -> None:
        if self.refusal:
            raise KeenError(self.refusal)


def _set_event() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event
