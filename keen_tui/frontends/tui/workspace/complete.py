"""Commands, paths and resources are completed while they are written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Final, Literal

from keen_tui.frontends.tui.widgets.completing import (
    Completion,
    Wanted,
    file_completions,
    fitting_commands,
    fitting_resources,
    wanted,
    with_servers,
)
from keen_tui.frontends.tui.workspace.recall import MessageSearch
from keen_tui.frontends.tui.workspace.view import WorkspaceView

_MOST_NAMES: Final = 50
_ENTER_WAITS: Final = 1.0
"""Seconds for which enter waits for a server's list of resources."""


class Completer:
    """Offers what the word at the cursor could become, or, while they are searched, earlier messages.

    `_offered` is the word that the list is for, `_sought` the one that files or resources are looked for,
    `_refused` the place of one whose list was closed. Enter pressed before the list has caught up with the
    letters counts when it has.
    """

    def __init__(self, view: WorkspaceView, search: MessageSearch) -> None:
        self._view = view
        self._search = search
        self._offered: Wanted | None = None
        self._sought: Wanted | None = None
        self._refused: tuple[int, int] | None = None
        self._wish: Literal["", "write", "send"] = ""

    def search(self) -> None:
        """Look for an earlier message by the words that are written, and those that will be."""
        self.close(for_now=True)
        self._search.begin()

    def choose(self, step: int) -> bool:
        """Move in the list; False: there is none."""
        if not self._view.completions.is_open:
            return False
        self._view.completions.move(step)
        return True

    def take(self, *, sends: bool = False) -> bool:
        """Write what is chosen; False: nothing is, or it stands there already. With `sends` a command that
        is whole is run."""
        if self._search.is_open:
            return self._search.take()
        view, word = self._view, self._word
        if word and word != self._offered:
            if word == self._sought:
                self._wish = "send" if sends else "write"
                return True
            if word.kind == "command" and view.completions.is_open:
                self._complete_command(word)
        chosen = view.completions.chosen
        self.close(for_now=True)
        if word is None or chosen is None or (sends and chosen.name == word.written):
            return False
        view.prompt.complete(word.start, word.end, chosen.text)
        if sends and word.kind == "command" and chosen.is_whole:
            view.prompt.action_send()
        return True

    def take_clicked(self, completion: Completion) -> None:
        """Write what was clicked."""
        word = self._word
        if self._search.is_open:
            self._search.take()
        elif word:
            self.close(for_now=True)
            self._view.prompt.complete(word.start, word.end, completion.text)

    def close(self, *, for_now: bool = False) -> bool:
        """Hide the list, until another word is begun if not only `for_now`. False: it was hidden."""
        if self._search.is_open:
            self._search.leave()
            return True
        view = self._view
        if not for_now and self._offered and view.completions.is_open:
            self._refused = (view.prompt.cursor_location[0], self._offered.start)
        self._offered, self._sought, self._wish = None, None, ""
        view.cancel_work("files")
        return view.completions.close()

    def follow_text(self) -> None:
        """The text has changed."""
        view = self._view
        if self._search.is_open:
            self._search.show()
            return
        word = self._word if view.prompt.is_typed else None
        place = word and (view.prompt.cursor_location[0], word.start)
        if place != self._refused:
            self._refused = None
        if word is None or place == self._refused:
            self.close(for_now=True)
        elif word.kind == "command":
            self._complete_command(word)
        elif (view.files or view.servers) and word not in (self._offered, self._sought):
            self._sought, self._wish = word, ""
            view.work(self._complete_name(word), "files", instead=True)

    def follow_cursor(self) -> None:
        """The cursor may leave the word while the text stays as it is."""
        if self._offered and self._word is None:
            self.close(for_now=True)

    @property
    def _word(self) -> Wanted | None:
        """The unfinished word at the cursor."""
        prompt = self._view.prompt
        start, end = prompt.selection
        if start != end:
            return None
        row, column = end
        return wanted(prompt.document.get_line(row), column, is_first=row == 0)

    def _complete_command(self, word: Wanted) -> None:
        self._offer(word, fitting_commands(word.letters, self._view.commands.offered))

    async def _complete_name(self, word: Wanted) -> None:
        async for found in self._named(word.letters):
            if self._word != word:
                return
            self._offer(word, found or ())
            if found is None:
                self._sought = None
                if self._wish == "send":
                    self._fulfil()
            if self._wish and found:
                break
        self._fulfil()

    def _fulfil(self) -> None:
        """Nothing is looked for any more: do what was wished meanwhile."""
        self._sought = None
        wish, self._wish = self._wish, ""
        if wish == "send":
            self._view.prompt.action_send()
        elif wish:
            self.take()

    async def _named(self, letters: str) -> AsyncIterator[Sequence[Completion] | None]:
        """Yields the completions of the letters after an @: resources of the server before a colon, or files.
        Yields again as more are found, and None if a server takes long to answer."""
        files, servers = self._view.files, self._view.servers
        names = servers.with_resources() if servers else ()
        part, colon, rest = letters.partition(":")
        server = next((name for name in names if colon and name.lower() == part.lower()), None)
        if servers and server is not None:
            listing = asyncio.ensure_future(servers.resources(server))
            if not (await asyncio.wait({listing}, timeout=_ENTER_WAITS))[0]:
                yield None
            yield fitting_resources(server, rest, await listing, _MOST_NAMES)
            return
        if files is None:
            yield with_servers((), letters, names)
            return
        async for paths in files.matching(letters, _MOST_NAMES):
            yield with_servers(file_completions(paths), letters, names)

    def _offer(self, word: Wanted, found: Sequence[Completion]) -> None:
        self._offered = word
        self._view.offer(found, runs=word.kind == "command")
