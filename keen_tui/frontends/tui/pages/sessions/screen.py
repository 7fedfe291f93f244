"""The screen of saved sessions: find one by its title or by words in it, open, fork, rename, delete."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import ClassVar

from msgspec.structs import replace
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from keen_tui.domain.errors import KeenError
from keen_tui.domain.reports import SavedSession, SearchHit
from keen_tui.frontends.shared.history_port import HistoryPort
from keen_tui.frontends.tui.keys.keymap import field_keys, same_key, shown
from keen_tui.frontends.tui.look.cells import cut
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.sessions.bars import KeyHints, PutAside, SessionsFoot, SessionsHead
from keen_tui.frontends.tui.pages.sessions.lines import SessionLine, session_of, shown_title
from keen_tui.frontends.tui.pages.sessions.session_list import MARGIN, TEXT_EDGE, SessionList
from keen_tui.frontends.tui.pages.sessions.shelf import Shelf
from keen_tui.frontends.tui.pages.sessions.values import Chosen
from keen_tui.frontends.tui.terminal.laid_out_once import KeenScreen
from keen_tui.frontends.tui.widgets.field import Field
from keen_tui.text.units import counted

_LOW = 16
"""Rows below which nothing is left blank."""
_AT_ONCE = 60
"""Sessions that are shown before all of them are read."""
_TITLE_CELLS = 38
"""Cells of a title in the question whether to delete it."""
_KEYS = {
    "escape": "back",
    "enter": "take",
    "up": "move(-1)",
    "down": "move(1)",
    "pageup": "move(-10)",
    "pagedown": "move(10)",
}
_ACTIONS = {
    "page_folders": "folders",
    "page_words": "words",
    "page_fork": "fork",
    "page_rename": "rename",
    "page_delete": "delete",
}
_TITLE_KEYS = {"enter": "keep_title", "escape": "leave_title"}


class SessionsScreen(KeenScreen[Chosen | None]):
    """Dismissed with the session to go on with. `query` is what is looked for at first."""

    AUTO_FOCUS = "#sessions-field"
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, action, show=False) for key, action in _KEYS.items()),
        *(same_key(action_id, does) for action_id, does in _ACTIONS.items()),
        same_key("sessions", "back"),
    ]

    def __init__(
        self,
        styles: Styles,
        glyphs: Glyphs,
        history: HistoryPort,
        *,
        query: str = "",
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__()
        self._history = history
        self._shelf = Shelf(query=query)
        self._searched = ""
        self._words = ""
        self._doomed: SavedSession | None = None
        self._renamed: SavedSession | None = None
        self._sentence = ""
        self._head = SessionsHead(styles, glyphs)
        self._field = Field(id="sessions-field", keys=self._keys_of_field(), value=query)
        self._aside = PutAside(styles, glyphs)
        self._list = SessionList(styles, glyphs, now=now)
        self._foot = SessionsFoot(styles, glyphs)

    def compose(self) -> ComposeResult:
        yield self._head
        yield self._field
        yield self._aside
        yield self._list
        yield self._foot

    def on_mount(self) -> None:
        self._show()
        self._load()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.height < _LOW, "-low")
        self.call_after_refresh(self._place_title)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While a title is written, only its own keys do something."""
        of_list = {name.split("(")[0] for name in (*_KEYS.values(), *_ACTIONS.values())}
        return self._renamed is None or action not in of_list

    # What is shown

    @on(Input.Changed, "#sessions-field")
    def _follow_query(self) -> None:
        """The query may have changed: show what it finds."""
        if self._renamed or self._field.value == self._shelf.query:
            return
        self._sentence, self._doomed = "", None
        self._shelf = replace(self._shelf, query=self._field.value)
        if self._shelf.in_words:
            self._look_for_words()
        self._show(to_top=True)

    def _show(self, *, to_top: bool = False, choose: SessionLine = None) -> None:
        shelf = self._shelf
        self._list.show(
            shelf.lines,
            on_screen=self._history.session_id,
            folders=shelf.everywhere,
            empty=shelf.empty,
            choose=choose,
            to_top=to_top,
        )
        self._field.placeholder = shelf.invitation
        self._tell()

    def _tell(self) -> None:
        """Say what the head and the foot say now."""
        chosen = session_of(self._list.chosen)
        sentence = self._sentence or (chosen.problem if chosen else "")
        question = ""
        if self._doomed:
            title, turns = cut(shown_title(self._doomed), _TITLE_CELLS), counted(self._doomed.turns, "turn")
            question = f"Delete {title} and its {turns} for good?"
        self._foot.show(sentence, question, self._keys_now())
        self._head.show("Sessions", *self._shelf.told(self._list.count))

    def _keys_of_field(self) -> Mapping[str, str]:
        """The keys of the list; the one that opened it leads back too."""
        return {**field_keys({"sessions": "back", **_ACTIONS}), **_KEYS}

    def _keys_now(self) -> tuple[KeyHints, ...]:
        if self._renamed:
            return ((("enter", "keep the title"), ("esc", "cancel")),)
        if self._doomed:
            return ((("enter", "delete"), ("esc", "keep")),)
        if self._shelf.in_words:
            return self._keys_of_chosen(), ((shown("page_words"), "titles"), ("esc", "back"))
        folders = "this folder" if self._shelf.everywhere else "all folders"
        words = (shown("page_words"), "search words")
        return self._keys_of_chosen(), ((shown("page_folders"), folders), words, ("esc", "back"))

    def _keys_of_chosen(self) -> KeyHints:
        chosen = self._list.chosen
        session = session_of(chosen)
        if session is None or session.problem:
            return ((shown("page_delete"), "delete"),) if session else ()
        fork = f"fork up to turn {chosen.turn}" if isinstance(chosen, SearchHit) else "fork"
        return (
            ("enter", "open"),
            (shown("page_fork"), fork),
            (shown("page_rename"), "rename"),
            (shown("page_delete"), "delete"),
        )

    def _say(self, sentence: str) -> None:
        self._sentence = sentence
        self._tell()

    # What is read

    def _load(self) -> None:
        self.run_worker(self._read(), name="sessions", group="sessions", exclusive=True)

    async def _read(self) -> None:
        """The newest sessions at first, which are there at once, then all."""
        everywhere = self._shelf.everywhere
        try:
            sessions = await self._history.sessions(everywhere=everywhere, most=_AT_ONCE)
            if has_more := len(sessions) == _AT_ONCE:
                self._put_read(sessions, has_more=has_more)
                sessions = await self._history.sessions(everywhere=everywhere)
        except KeenError as error:
            sessions = self._shelf.sessions or ()
            self._say(str(error))
        self._put_read(sessions)

    def _put_read(self, sessions: tuple[SavedSession, ...], *, has_more: bool = False) -> None:
        """Show the sessions that were read. At first the newest other one is chosen."""
        first = self._shelf.sessions is None
        self._shelf = replace(self._shelf, sessions=sessions, has_more=has_more)
        others = (each for each in sessions if not self._is_open(each))
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
            self._say(str(error))
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

    @on(SessionList.Clicked)
    def _open_clicked(self) -> None:
        self._choose(fork=False)

    def action_take(self) -> None:
        """Open the chosen session; where it was asked whether to delete one, delete it."""
        self._follow_query()
        if self._doomed:
            self._delete(self._doomed)
        else:
            self._choose(fork=False)

    def action_fork(self) -> None:
        """Continue in a copy of the chosen session."""
        self._follow_query()
        self._choose(fork=True)

    def action_back(self) -> None:
        """One step back: from the question, from the search for words, from the screen."""
        if self._doomed:
            self._keep()
        elif self._shelf.in_words:
            self.action_words()
        else:
            self.dismiss(None)

    def action_move(self, step: int) -> None:
        """Choose another line."""
        self._keep()
        self._list.move(step)
        self._tell()

    def action_folders(self) -> None:
        """The sessions of this folder, or of all."""
        if not self._shelf.in_words:
            self._keep()
            self._shelf = replace(self._shelf, everywhere=not self._shelf.everywhere)
            self._load()
            self._show()

    def action_words(self) -> None:
        """Look for words in all sessions, or for titles again."""
        self._keep()
        self._shelf = replace(self._shelf, in_words=not self._shelf.in_words)
        if self._shelf.in_words:
            self._look_for_words()
        self._show(to_top=True)

    def action_rename(self) -> None:
        """Write another title in the place of the chosen one."""
        self._follow_query()
        self._keep()
        session = session_of(self._list.chosen)
        if session and not session.problem:
            self._renamed = session
            self._aside.show(self._shelf.query or self._shelf.invitation)
            self._aside.display = True
            self._field.add_class("-title")
            self._place_title()
            self._field.take_over(_TITLE_KEYS, session.title)
            self._tell()

    def action_delete(self) -> None:
        """Ask whether to delete the chosen session."""
        self._follow_query()
        session = session_of(self._list.chosen)
        if session and self._is_open(session):
            self._say("This is the session on the screen. Open another one, then delete it.")
        elif session:
            self._doomed = session
            self._tell()

    def action_keep_title(self) -> None:
        """Give the session the title that is written."""
        title = self._field.value.strip()
        if not title:
            self._say("A title needs at least one word.")
        elif session := self._renamed:
            self.action_leave_title()
            if title != session.title:
                self._do(
                    self._history.rename(session.id, title),
                    lambda: self._put(self._shelf.retitled(session.id, title)),
                )

    def action_leave_title(self) -> None:
        """Leave the title as it was."""
        self._renamed, self._sentence = None, ""
        self._aside.display = False
        self._field.remove_class("-title")
        self._field.styles.offset = (0, 0)
        self._field.styles.width = None
        self._field.take_over(self._keys_of_field(), self._shelf.query)
        self._tell()

    def _choose(self, *, fork: bool) -> None:
        self._keep()
        match self._list.chosen:
            case SavedSession(problem="") as session:
                self.dismiss(Chosen(session, fork=fork))
            case SearchHit(session=session) as hit if not session.problem:
                self.dismiss(Chosen(session, hit.turn, fork, self._words))

    def _keep(self) -> None:
        """Nothing is deleted, and what was said has been read."""
        self._doomed, self._sentence = None, ""
        self._tell()

    def _delete(self, session: SavedSession) -> None:
        self._keep()
        self._do(self._history.delete(session.id), lambda: self._put(self._shelf.without(session.id)))

    def _do(self, action: Awaitable[None], then: Callable[[], None]) -> None:
        """Do it, even if the screen is left meanwhile; what goes wrong is said."""

        async def done() -> None:
            try:
                await action
            except KeenError as error:
                self._say(str(error))
            else:
                then()

        self.app.run_worker(done(), name="change-session", group="change-session")

    def _put(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._show()

    def _is_open(self, session: SavedSession) -> bool:
        return session.id == self._history.session_id

    def _place_title(self) -> None:
        """Lay the field over the row of the session that is renamed."""
        if self._renamed:
            self._field.styles.offset = (TEXT_EDGE, self._list.region.y + self._list.row_of_chosen)
            self._field.styles.width = max(self.size.width - TEXT_EDGE - MARGIN, 10)
