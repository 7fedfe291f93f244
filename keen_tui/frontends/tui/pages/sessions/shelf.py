"""The saved sessions, as far as they are loaded, and the search among them, as a value."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from keen_tui.domain.reports import SavedSession, SearchHit
from keen_tui.frontends.tui.keys.keymap import shown
from keen_tui.frontends.tui.pages.sessions.lines import SessionLine, count_words, under_headings, with_title
from keen_tui.text.units import counted


class Shelf(Struct, frozen=True, kw_only=True):
    """`sessions` are those of this folder or, `everywhere`, of all; None until they were read. `has_more`:
    these are the newest, and the others are being read.

    `query` narrows them by title or, `in_words`, is searched for in all of them: `hits` are the places.
    """

    sessions: tuple[SavedSession, ...] | None = None
    has_more: bool = False
    hits: tuple[SearchHit, ...] = ()
    query: str = ""
    everywhere: bool = False
    in_words: bool = False
    searching: bool = False

    @property
    def lines(self) -> list[SessionLine]:
        """The rows of the list."""
        return under_headings(self.hits) if self.in_words else [*with_title(self.sessions or (), self.query)]

    @property
    def invitation(self) -> str:
        """The hint in the empty field."""
        return "search all sessions" if self.in_words else "type to find a session by its title"

    @property
    def empty(self) -> str:
        """Why the list is empty, when it is."""
        if self.in_words:
            if not self.query.strip():
                return "Type words to search for in all sessions."
            return "searching" if self.searching else "No session contains these words."
        if self.sessions is None or self.has_more:
            return "reading the sessions"
        if self.sessions:
            return f"No session has that title. {shown('page_words')} searches all sessions for the words."
        return "No session is saved yet." if self.everywhere else "No session is saved for this folder yet."

    def told(self, shown: int) -> tuple[str, str]:
        """Whose sessions these are, and how many of them; `shown` is the number of lines."""
        if self.in_words:
            return "words in all sessions", counted(len(self.hits), "place") if self.hits else ""
        count = "" if self.sessions is None or self.has_more else count_words(shown, len(self.sessions))
        return "all folders" if self.everywhere else "this folder", count

    def retitled(self, session_id: str, title: str) -> Shelf:
        """The same with another title for that session."""

        def changed(session: SavedSession) -> SavedSession:
            return replace(session, title=title) if session.id == session_id else session

        hits = tuple(replace(hit, session=changed(hit.session)) for hit in self.hits)
        return replace(self, sessions=tuple(map(changed, self.sessions or ())), hits=hits)

    def without(self, session_id: str) -> Shelf:
        """The same without that session."""
        sessions = tuple(each for each in self.sessions or () if each.id != session_id)
        hits = tuple(hit for hit in self.hits if hit.session.id != session_id)
        return replace(self, sessions=sessions, hits=hits)
