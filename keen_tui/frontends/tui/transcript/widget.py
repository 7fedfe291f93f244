"""The transcript: one scrolling widget that paints rows of a document, never a widget a message."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import ClassVar

from textual.binding import BindingType
from textual.strip import Strip

from keen_tui.frontends.tui.keys.keymap import bindings, shown
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.state.state import Block, ToolBlock
from keen_tui.frontends.tui.state.trail import Trail
from keen_tui.frontends.tui.transcript.cursor import ROWS_ABOVE_REVEALED
from keen_tui.frontends.tui.transcript.document import Place
from keen_tui.frontends.tui.transcript.finding_view import FindingView
from keen_tui.frontends.tui.transcript.folding import Folding
from keen_tui.frontends.tui.transcript.look import Look
from keen_tui.frontends.tui.transcript.messages import FileWanted, LinkWanted, RowWanted


class Transcript(FindingView):
    """Shows the blocks of a session.

    What it does is in its bases: `DocumentView` scrolls, `CursorView` has the block cursor,
    `SelectingView` the mouse, `FindingView` looks for words. This class is what the screen sets and reads,
    and what is painted.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("transcript")]

    DEFAULT_CSS = """
    Transcript {
        width: 1fr;
        height: 1fr;
        margin: 1 0;
        background: $background;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size: 0 0;
    }
    """

    def __init__(
        self,
        styles: Styles,
        glyphs: Glyphs,
        *,
        id: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(styles, glyphs, id=id, clock=clock)
        self.reduced_motion = False
        """True: the dot of a running call stands still."""
        self._past_length = 0

    @property
    def has_ways_on(self) -> bool:
        """Whether an end that waits shows the keys that go on from it: a replay has none."""
        return self._document.has_ways_on

    @has_ways_on.setter
    def has_ways_on(self, shown: bool) -> None:
        self._document.has_ways_on = shown

    @property
    def live_output(self) -> bool:
        """True: a running call shows its newest lines under its row."""
        return self._document.live_output

    @live_output.setter
    def live_output(self, shown: bool) -> None:
        if shown != self._document.live_output:
            self._document.live_output = shown
            self._document.redraw_running()
            self._settle()

    def set_asked(self, asked: bool) -> None:
        """Tell whether a question is open: the key to press next is there then, and not here."""
        if asked != self._document.asked:
            self._document.asked = asked
            self._document.redraw_end()
            self._settle()

    def begin(self) -> None:
        """The blocks shown next are another conversation: nothing is unfolded, and it stands at its end."""
        self._document.clear()
        self._painter.forget()
        self._forget_hits()
        self._cursor = self._range_from = None
        self._anchor = Place(0, 0)
        self.following = True
        self._deselect()

    def show(self, past: Trail[Block], live: tuple[Block, ...]) -> None:
        """Show these blocks. Costs what changed and what is seen."""
        before = [entry.block for entry in self._document.entries[:1]]
        under_cursor = self.block_under_cursor
        adopted = self._document.adopt(past)
        first_changed = self._document.show(past, live)
        first_changed = 0 if adopted else first_changed
        self._past_length = len(past)
        if first_changed == 0 and before and (added := self._document.index_of(before[0])):
            self._moved_down(added)
        self._keep_cursor(under_cursor)
        if self._selected.span and self._selected.span.first.block >= len(self._document):
            self._deselect()
        self._finder.follow(first_changed)
        self._settle()
        self._look_on()

    def _moved_down(self, blocks: int) -> None:
        """So many blocks came before the first one: the past of a long session arrives after its end."""
        self._anchor = self._anchor._replace(block=self._anchor.block + blocks)
        if self._cursor is not None:
            self._cursor += blocks
        if self._range_from is not None:
            self._range_from += blocks
        self._selected.moved_down(blocks)
        self._move_hits(blocks)

    def prepare(self, past: Trail[Block]) -> None:
        """Take in a past that is still being restored. It is there as soon as it is shown."""
        self._document.prepare(past)

    def set_look(self, styles: Styles, glyphs: Glyphs) -> None:
        """Draw everything anew in another theme or with other glyphs."""
        self._document.redraw(Look(styles, glyphs, self._document.look.width))
        self._painter.forget()
        self._settle()

    def recolour(self) -> None:
        """Colours were worked out beside the event loop: show them."""
        self._document.recolour()
        self._settle()

    def tick(self) -> None:
        """Let running clocks go on. Called once a second while something runs."""
        document = self._document
        document.breath = not document.breath and not self.reduced_motion
        live = range(min(self._past_length, len(document)), len(document))
        for index in document.tick(live):
            document.lines(index)
        self.refresh_changed()

    def next_folding(self) -> Folding:
        """Show of all blocks what the next state says, and give that state."""
        folding = self._document.next_folding()
        self._settle()
        return folding

    def label_pastes(self, labelled: Callable[[str], str]) -> None:
        """`labelled` gives a text of the user's with labels for the long pastes in it."""
        self._document.labelled = labelled

    def reveal(self, turn: int, call_id: str | None = None) -> bool:
        """Scroll to a tool call or, without `call_id`, to the beginning of a turn. False: it is not there."""
        for index, entry in enumerate(self._document.entries):
            block = entry.block
            wanted = isinstance(block, ToolBlock) and block.id == call_id if call_id else True
            if wanted and getattr(block, "turn", None) == turn:
                self._cursor = index
                self._go(Place(index, 0))
                self._scroll_rows(-ROWS_ABOVE_REVEALED)
                return True
        return False

    def action_select_all(self) -> None:
        self.select_all()

    def action_open_file(self) -> None:
        """Open the file that the block under the cursor names."""
        cursor = self._ensure_cursor()
        if cursor is not None:
            self.post_message(FileWanted(self._document.entries[cursor].block))

    def action_open_link(self) -> None:
        """Open the web page that the block under the cursor names."""
        cursor = self._ensure_cursor()
        if cursor is not None:
            self.post_message(LinkWanted(self._document.entries[cursor].block))

    def action_show_in_activity(self) -> None:
        """Show the row of the block under the cursor in Activity."""
        cursor = self._ensure_cursor()
        if cursor is not None:
            block = self._document.entries[cursor].block
            call_id = block.id if isinstance(block, ToolBlock) else None
            self.post_message(RowWanted(getattr(block, "turn", 0), call_id))

    async def action_look_for(self) -> None:
        """Look for words, as the workspace does."""
        await self.screen.run_action("find")

    def strips(self) -> Iterator[Strip]:
        height = self.size.height
        last = self._viewport - 1
        has_mark = not self.following and self.below > 0
        key = shown("last_block" if self.has_focus else "bottom")
        rows = self._document.places(self.scroll_offset.y, height)
        for y, place in enumerate(rows):
            has_cursor = self._is_under_cursor(place.block)
            strip = self._painter.strip(place, has_cursor=has_cursor, marks=self._marks(place))
            yield self._painter.with_mark(strip, self.below, key) if has_mark and y == last else strip
        for _ in range(self._document.rows - self.scroll_offset.y, height):
            yield self._painter.blank(self.size.width)
