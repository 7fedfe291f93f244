"""The part of the workspace that makes the panels wider and narrower."""

from __future__ import annotations

import asyncio
from typing import Final

from textual import on

from keen_tui.frontends.tui.keys.keymap import shown
from keen_tui.frontends.tui.look.layout import SIDEBAR_STEP
from keen_tui.frontends.tui.state.sidebar_widths import keep_columns
from keen_tui.frontends.tui.transcript.messages import RowWanted
from keen_tui.frontends.tui.workspace.stage import Stage

_HIDDEN: Final = "The panels are hidden: {key} shows them."


class SidebarActions(Stage):
    """Changes the width, and has it written down."""

    _keeping: asyncio.Lock | None = None

    def action_wider_panels(self) -> None:
        """Give the panels more columns."""
        self._resize(SIDEBAR_STEP)

    def action_narrower_panels(self) -> None:
        """Give the panels fewer columns."""
        self._resize(-SIDEBAR_STEP)

    @on(RowWanted)
    def _show_row(self, message: RowWanted) -> None:
        """Lead from a block of the transcript to its row in Activity."""
        place = self.sidebar.activity.place_of(message.turn, message.call_id)
        if place is None:
            self.say("This has no row in Activity.")
            return
        if not self.sidebar.display:
            self.toggle_sidebar()
        self.sidebar.activity.stand_on(place)
        self.set_focus(self.sidebar.activity)

    def _resize(self, step: int) -> None:
        if not self.sidebar.display:
            self.say(_HIDDEN.format(key=shown("sidebar")))
        elif not self.widen_sidebar(step):
            self.say(f"The panels get no {'wider' if step > 0 else 'narrower'} in this window.")
        elif self.sidebar_file:
            self.run_worker(self._keep(), name="sidebar")

    async def _keep(self) -> None:
        """Write the newest width down, one after another."""
        assert self.sidebar_file
        self._keeping = self._keeping or asyncio.Lock()
        async with self._keeping:
            try:
                await asyncio.to_thread(keep_columns, self.sidebar_file, self.sidebar_wanted)
            except OSError as error:
                self.say(f"The width can't be remembered: {error.strerror}.")
