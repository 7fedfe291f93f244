"""The part of the workspace that opens files in the user's editor, at the place that is shown."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from textual import on

from keen_tui.frontends.tui.state.places import FoundPlace, Named, found_places, links_in, named_in
from keen_tui.frontends.tui.state.state import Block, ToolBlock
from keen_tui.frontends.tui.transcript.messages import FileWanted, LinkOpened, LinkWanted
from keen_tui.frontends.tui.workspace.stage import Stage


class OpenActions(Stage):
    """`_opened_of` is the block of which a place or link was opened last, `_next` the number of its next."""

    _opened_of: Block | None = None
    _next = 0

    async def open_file(self, named: Sequence[Named]) -> str:
        """Open the first of these places that is there. Gives a sentence about why none could be."""
        found = await asyncio.to_thread(found_places, named, self.session.workspace)
        return await self._edit(found[0]) if found else why_none(named)

    def action_open_file(self) -> None:
        """Open the file that the block under the cursor names."""
        self.transcript.action_open_file()

    @on(FileWanted)
    def _open_of_block(self, message: FileWanted) -> None:
        self.open_of(message.block)

    def call_of(self, call_id: str) -> ToolBlock | None:
        """The block of a call."""
        blocks = (*reversed(self.state.live), *reversed(self.state.past))
        return next((each for each in blocks if isinstance(each, ToolBlock) and each.id == call_id), None)

    def open_of(self, block: Block) -> None:
        """Open the next place that the block names."""
        self.run_worker(self._open_next(block), name="editor", group="editor", exclusive=True)

    async def _open_next(self, block: Block) -> None:
        """Open the first place that the block names; once more, its next one."""
        named = named_in(block)
        found = await asyncio.to_thread(found_places, named, self.session.workspace)
        if not found:
            self.say(why_none(named))
            return
        number, which = self._turn_of(block, len(found))
        problem = await self._edit(found[number])
        self.say(problem or f"opened {found[number].named}{which}")

    @on(LinkWanted)
    def _open_next_link(self, message: LinkWanted) -> None:
        """Open the first web page that the block names; once more, its next one."""
        links = links_in(message.block)
        if not links:
            self.say("No web page is named here.")
            return
        number, which = self._turn_of(message.block, len(links))
        self._open_page(links[number], which)

    @on(LinkOpened)
    def _open_clicked(self, message: LinkOpened) -> None:
        """Open a page that the user clicked; other kinds of links could run something."""
        if message.href.startswith(("https://", "http://")):
            self._open_page(message.href)
        else:
            self.say(f"not opened, since it isn't a web page: {message.href}")

    def _open_page(self, link: str, which: str = "") -> None:
        self.app.open_url(link)
        self.say(f"opened {link}{which}")

    def _turn_of(self, block: Block, count: int) -> tuple[int, str]:
        """Which of so many things of a block is opened now, the next one each time, and words for it."""
        number = self._next % count if block is self._opened_of else 0
        self._opened_of, self._next = block, number + 1
        return number, f" ({number + 1} of {count})" if count > 1 else ""

    async def open_and_say(self, named: Named) -> None:
        """Open the place, and say what came of it."""
        self.say(await self.open_file([named]) or f"opened {named}")

    async def _edit(self, place: FoundPlace) -> str:
        from keen_tui.frontends.tui.terminal.external_editor import EditorFailed, open_in_editor  # noqa: PLC0415 - not at the first paint

        try:
            await open_in_editor(self.app, place.file, place.named.line)
        except EditorFailed as failed:
            return str(failed)
        return ""


def why_none(named: Sequence[Named]) -> str:
    """Why no place was opened."""
    if not named:
        return "No file is named here."
    return f"{named[0].path} isn't a file here" + (", nor are the others." if len(named) > 1 else ".")
