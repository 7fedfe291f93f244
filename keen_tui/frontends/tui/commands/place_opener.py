"""Files are opened in the user's editor, at the place that is shown; web pages in the browser."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from keen_tui.frontends.tui.commands.agents import AgentViewer
from keen_tui.frontends.tui.state.state import Block, ToolBlock
from keen_tui.frontends.tui.transcript.places import FoundPlace, Named, found_places, links_in, named_in
from keen_tui.frontends.tui.workspace.view import WorkspaceView


class PlaceOpener:
    """Opens what blocks and rows name. `_opened_of` is the block of which a place or link was opened last,
    `_next` the number of its next."""

    def __init__(self, view: WorkspaceView, agents: AgentViewer) -> None:
        self._view = view
        self._agents = agents
        self._opened_of: Block | None = None
        self._next = 0

    async def open_file(self, named: Sequence[Named]) -> str:
        """Open the first of these places that is there. Gives a sentence about why none could be."""
        found = await asyncio.to_thread(found_places, named, self._view.session.workspace)
        return await self._edit(found[0]) if found else why_none(named)

    def open_of(self, block: Block) -> None:
        """Open the first place that the block names; once more, its next one. A sub-agent's transcript is
        shown instead."""
        if self._agents.open_of(block):
            return
        self._view.work(self._open_next(block), "editor", instead=True)

    def open_of_call(self, call_id: str) -> None:
        """Open the file of a call."""
        state = self._view.state
        blocks = (*reversed(state.live), *reversed(state.past))
        for block in blocks:
            if isinstance(block, ToolBlock) and block.id == call_id:
                self.open_of(block)
                return

    def open_file_of(self, turn: int, call_id: str | None) -> None:
        """Open the file of a call, or the one that a turn changed; of several the diff is shown to choose
        from."""
        if call_id is not None:
            self.open_of_call(call_id)
            return
        rows = (row for row in self._view.state.turns if row.turn == turn)
        files = next((row.memory.files_changed for row in rows), ())
        if len(files) == 1:
            self.open_path(files[0])
        else:
            self._view.run("diff", str(turn))

    def open_path(self, path: str) -> None:
        """Open the file that a call has named so."""
        self._view.work(self._open_and_say(Named(path, by_call=True)), "editor", instead=True)

    def open_link_of(self, block: Block) -> None:
        """Open the first web page that the block names; once more, its next one."""
        links = links_in(block)
        if not links:
            self._view.say("No web page is named here.")
            return
        number, which = self._turn_of(block, len(links))
        self._open_page(links[number], which)

    def open_clicked(self, href: str) -> None:
        """Open a page that the user clicked; other kinds of links could run something."""
        if href.startswith(("https://", "http://")):
            self._open_page(href)
        else:
            self._view.say(f"not opened, since it isn't a web page: {href}")

    def edit_draft(self) -> None:
        """Let the draft be written in the user's editor."""
        self._view.work(self._edit_draft(), "editor", instead=True)

    async def _open_next(self, block: Block) -> None:
        named = named_in(block)
        found = await asyncio.to_thread(found_places, named, self._view.session.workspace)
        if not found:
            self._view.say(why_none(named))
            return
        number, which = self._turn_of(block, len(found))
        problem = await self._edit(found[number])
        self._view.say(problem or f"opened {found[number].named}{which}")

    async def _open_and_say(self, named: Named) -> None:
        self._view.say(await self.open_file([named]) or f"opened {named}")

    def _open_page(self, link: str, which: str = "") -> None:
        self._view.app.open_url(link)
        self._view.say(f"opened {link}{which}")

    def _turn_of(self, block: Block, count: int) -> tuple[int, str]:
        """Which of so many things of a block is opened now, the next one each time, and words for it."""
        number = self._next % count if block is self._opened_of else 0
        self._opened_of, self._next = block, number + 1
        return number, f" ({number + 1} of {count})" if count > 1 else ""

    async def _edit(self, place: FoundPlace) -> str:
        from keen_tui.frontends.tui.terminal.external_editor import EditorFailed, open_in_editor  # noqa: PLC0415 - not at the first paint

        try:
            await open_in_editor(self._view.app, place.file, place.named.line)
        except EditorFailed as failed:
            return str(failed)
        return ""

    async def _edit_draft(self) -> None:
        from keen_tui.frontends.tui.terminal.external_editor import EditorFailed, edited  # noqa: PLC0415 - not before the first paint

        prompt = self._view.prompt
        try:
            await edited(self._view.app, prompt.written, prompt.write)
        except EditorFailed as failed:
            self._view.say(str(failed))


def why_none(named: Sequence[Named]) -> str:
    """Why no place was opened."""
    if not named:
        return "No file is named here."
    return f"{named[0].path} isn't a file here" + (", nor are the others." if len(named) > 1 else ".")
