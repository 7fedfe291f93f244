"""The screen of saved sessions: find one by its title or by words in it, open, fork, rename, delete."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from functools import partial

from msgspec.structs import replace
from rich.text import Text
from textual import events, on, work

from keen_tui.domain.errors import KeenError
from keen_tui.domain.reports import SavedSession, SearchHit
from keen_tui.frontends.shared.history_port import HistoryPort
from keen_tui.frontends.tui.look.cells import cut
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.key import MOVES, Key
from keen_tui.frontends.tui.pages.page_screen import EDGE, PageScreen
from keen_tui.frontends.tui.pages.row_list import RowList
from keen_tui.frontends.tui.pages.sessions.lines import Chosen, SessionLine, session_of, shown_title
from keen_tui.frontends.tui.pages.sessions.session_list import MARGIN, TEXT_EDGE, SessionList
from keen_tui.frontends.tui.pages.sessions.shelf import Shelf
from keen_tui.frontends.tui.widgets.field import Field
from keen_tui.frontends.tui.widgets.row_widget import DrawnRows, cut_row, indented, join_facts
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted

_AT_ONCE = 60
"""Sessions that are shown before all of them are read."""
_TITLE_CELLS = 38
"""Cells of a title in the question whether to delete it."""


class SessionsScreen(PageScreen[Chosen | None]):
    """Dismissed with the session to go on with. `query` is what is looked for at first."""

    heading_edges = (EDGE, 2 * EDGE)

    def __init__(
        self,
        styles: Styles,
        glyphs: Glyphs,
        history: HistoryPort,
        *,
        query: str = "",
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(styles, glyphs)
        self._history = history
        self._shelf = Shelf(query=query)
        self._searched = ""
        self._words = ""
        self._doomed: SavedSession | None = None
        self._renamed: SavedSession | None = None
        self._field = Field(self.press, id="sessions-field", value=query)
        rows = lambda width, _: [_aside_row(self, self._shelf, width)]  # noqa: E731
        self._aside = DrawnRows(styles, glyphs, rows, id="sessions-aside")
        self._aside.display = False
        self._list = self.body = SessionList(styles, glyphs, now=now)
        self.parts = (self.head, self._field, self._aside, self._list, self.foot)

    def on_mount(self) -> None:
        self._show()
        self._load()

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._place_title)

    # What is shown

    def heading(self) -> tuple[Text, str]:
        where, count = self._shelf.told(len(self._list.lines))
        title = Text("Sessions", self.look("text", bold=True))
        return join_facts(title, Text(where, self.look("soft"))), count

    def foot_rows(self, width: int) -> Sequence[Text]:
        """A sentence or, in its place, a question; below it the keys."""
        if self._doomed:
            title, turns = cut(shown_title(self._doomed), _TITLE_CELLS), counted(self._doomed.turns, "turn")
            question = f"{self.glyphs.asks} Delete {clean(title)} and its {turns} for good?"
            said = Text(question, self.look("wait", bold=True))
        else:
            chosen = session_of(self._list.chosen)
            said = Text(clean(self.sentence or (chosen.problem if chosen else "")), self.look("soft"))
        rows = (said, *(join_facts(*self.hints(keys)) for keys in self._rows_of_keys()))
        return [cut_row(row, width, self.glyphs.more) for row in rows]

    def keys(self) -> Sequence[Key]:
        keys = [key for row in self._rows_of_keys() for key in row]
        return keys if self._renamed else [*keys, MOVES]

    def _rows_of_keys(self) -> Sequence[Sequence[Key]]:
        """While a title is written, only its own keys do something."""
        if self._renamed:
            return (
                (
                    Key("enter", "keep the title", self._keep_title),
                    Key("escape", "cancel", self._leave_title),
                ),
            )
        in_words, doomed = self._shelf.in_words, self._doomed
        folders = "this folder" if self._shelf.everywhere else "all folders"
        back = (
            Key("page_folders", "" if in_words else folders, self._turn_folders),
            Key("page_words", "titles" if in_words else "search words", self._turn_words),
            Key("escape", "back", self._turn_words if in_words else self.leave),
            Key("sessions", does=self._turn_words if in_words else self.leave),
        )
        if doomed is None:
            return self._keys_of_chosen(), back
        answers = (Key("enter", "delete", partial(self._delete, doomed)), Key("escape", "keep", self.redraw))
        hidden = (replace(key, verb="") for key in (*self._keys_of_chosen(), *back))
        return ((*answers, *hidden),)

    def _keys_of_chosen(self) -> Sequence[Key]:
        chosen = self._list.chosen
        session = session_of(chosen)
        opens = session is not None and not session.problem
        fork = f"fork up to turn {chosen.turn}" if isinstance(chosen, SearchHit) else "fork"
        return (
            Key("enter", "open" if opens else "", self._take),
            Key("page_fork", fork if opens else "", partial(self._choose, fork=True)),
            Key("page_rename", "rename" if opens else "", self._rename),
            Key("page_delete", "delete" if session else "", self._ask_to_delete),
        )

    async def press(self, key: str) -> bool:
        """The query may have changed before the key: the key is about what it finds."""
        self.typed(self._field.value)
        return await super().press(key)

    def forget(self) -> None:
        """What was said has been read, and nothing is deleted."""
        super().forget()
        self._doomed = None

    def typed(self, text: str) -> None:
        """Show what the query finds, if it is another one."""
        if self._renamed or self._field.value == self._shelf.query:
            return
        self.forget()
        self._shelf = replace(self._shelf, query=self._field.value)
        if self._shelf.in_words:
            self._look_for_words()
        self._show(to_top=True)

    def _show(self, *, to_top: bool = False, choose: SessionLine = None) -> None:
        shelf = self._shelf
        self._list.show(
            shelf.lines,
            choose,
            to_top=to_top,
            on_screen=self._history.session_id,
            folders=shelf.everywhere,
            empty=shelf.empty,
        )
        self._field.placeholder = shelf.invitation
        self.redraw()

    # What is read

    @work(name="sessions", group="sessions", exclusive=True)
    async def _load(self) -> None:
        """The newest sessions at first, which are there at once, then all."""
        everywhere = self._shelf.everywhere
        try:
            sessions = await self._history.sessions(everywhere=everywhere, most=_AT_ONCE)
            if has_more := len(sessions) == _AT_ONCE:
                self._put_read(sessions, has_more=has_more)
                sessions = await self._history.sessions(everywhere=everywhere)
        except KeenError as error:
            sessions = self._shelf.sessions or ()
            self.say(str(error))
        self._put_read(sessions)

    def _put_read(self, sessions: tuple[SavedSession, ...], *, has_more: bool = False) -> None:
        """Show the sessions that were read. At first the newest other one is chosen."""
        first = self._shelf.sessions is None
        self._shelf = replace(self._shelf, sessions=sessions, has_more=has_more)
        others = (each for each in sessions if each.id != self._history.session_id)
        self._show(choose=next(others, None) if first and not self._shelf.query else None)

    def _look_for_words(self) -> None:
        """Search for what is typed now: one search at a time, and always for the newest words."""
        if not self._shelf.searching:
            self._shelf = replace(self._shelf, searching=True)
            self.run_worker(self._find(), name="search", group="search", exclusive=True)

    async def _find(self) -> None:
        try:
            while (query := self._shelf.query.strip()) != self._searched:
                if await self._found(query):
                    self._searched = query
        except KeenError as error:
            self._searched = self._shelf.query.strip()
            self._shelf = replace(self._shelf, hits=())
            self.say(str(error))
        self._shelf = replace(self._shelf, searching=False)
        self._show()

    async def _found(self, query: str) -> bool:
        """Show what is found, as it is found. False when something else is wanted meanwhile."""
        if not query:
            self._put_hits((), query)
            return True
        async with aclosing(self._history.search(query)) as search:
            hits: tuple[SearchHit, ...] = ()
            async for hits in search:
                if query != self._shelf.query.strip():
                    return False
                if hits:
                    self._put_hits(hits, query)
        self._put_hits(hits, query)
        return True

    def _put_hits(self, hits: tuple[SearchHit, ...], query: str) -> None:
        is_new, self._words = query != self._words, query
        if is_new or hits != self._shelf.hits:
            self._shelf = replace(self._shelf, hits=hits)
            self._show(to_top=is_new)

    # What keys do

    @on(RowList.Clicked)
    def _take(self) -> None:
        self._choose(fork=False)

    def _choose(self, *, fork: bool) -> None:
        """Go on with the chosen session, or with a copy of it."""
        match self._list.chosen:
            case SavedSession(problem="") as session:
                self.dismiss(Chosen(session, fork=fork))
            case SearchHit(session=session) as hit if not session.problem:
                self.dismiss(Chosen(session, hit.turn, fork, self._words))

    def _turn_folders(self) -> None:
        """The sessions of this folder, or of all."""
        if not self._shelf.in_words:
            self._shelf = replace(self._shelf, everywhere=not self._shelf.everywhere)
            self._load()
            self._show()

    def _turn_words(self) -> None:
        """Look for words in all sessions, or for titles again."""
        self._shelf = replace(self._shelf, in_words=not self._shelf.in_words)
        if self._shelf.in_words:
            self._look_for_words()
        self._show(to_top=True)

    def _rename(self) -> None:
        """Write another title in the place of the chosen one."""
        session = session_of(self._list.chosen)
        if session and not session.problem:
            self._renamed = session
            self._aside.display = True
            self._field.add_class("-title")
            self._place_title()
            self._field.write(session.title)

    def _ask_to_delete(self) -> None:
        session = session_of(self._list.chosen)
        if session and session.id == self._history.session_id:
            self.say("This is the session on the screen. Open another one, then delete it.")
        else:
            self._doomed = session

    def _keep_title(self) -> None:
        """Give the session the title that is written."""
        title = self._field.value.strip()
        if not title:
            self.say("A title needs at least one word.")
        elif session := self._renamed:
            self._leave_title()
            if title != session.title:
                self._do(
                    self._history.rename(session.id, title),
                    lambda: self._shelf.retitled(session.id, title),
                )

    def _leave_title(self) -> None:
        """Leave the title as it was."""
        self._renamed = None
        self._aside.display = False
        self._field.remove_class("-title")
        self._field.styles.offset = (0, 0)
        self._field.styles.width = None
        self._field.write(self._shelf.query)

    def _delete(self, session: SavedSession) -> None:
        self._do(self._history.delete(session.id), lambda: self._shelf.without(session.id))

    def _do(self, action: Awaitable[None], then: Callable[[], Shelf]) -> None:
        """Do it, even if the screen is left meanwhile, and show what `then` returns; what goes wrong is
        said."""

        async def done() -> None:
            try:
                await action
            except KeenError as error:
                self.say(str(error))
            else:
                self._shelf = then()
                self._show()

        self.app.run_worker(done(), name="change-session", group="change-session")

    def _place_title(self) -> None:
        """Lay the field over the row of the session that is renamed."""
        if self._renamed:
            self._field.styles.offset = (TEXT_EDGE, self._list.region.y + self._list.row_of_chosen)
            self._field.styles.width = max(self.size.width - TEXT_EDGE - MARGIN, 10)


def _aside_row(screen: SessionsScreen, shelf: Shelf, width: int) -> Text:
    """What was typed, in its place while the field is elsewhere."""
    typed = Text(clean(shelf.query or shelf.invitation), screen.look("dim"))
    return indented(cut_row(typed, width - 2 * EDGE, screen.glyphs.more), EDGE)
