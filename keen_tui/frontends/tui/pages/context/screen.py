"""The context view: what the next request holds, part by part, under each memory policy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import replace
from rich.text import Text
from textual import events

from keen_tui.domain.errors import KeenError
from keen_tui.domain.reports import POLICIES, ContextReport
from keen_tui.frontends.shared.commands.memory import POLICY_CHOSEN
from keen_tui.frontends.shared.port import SessionControls
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.context.columns import WIDE_FROM, PolicyView
from keen_tui.frontends.tui.pages.context.editor import MemoryEditor
from keen_tui.frontends.tui.pages.context.head import ESTIMATES, ContextHead
from keen_tui.frontends.tui.pages.context.pane import PartPane
from keen_tui.frontends.tui.pages.context.parts import PartTable
from keen_tui.frontends.tui.pages.context.reader import PartReader
from keen_tui.frontends.tui.pages.key import Key
from keen_tui.frontends.tui.pages.page_screen import LOW, PageScreen
from keen_tui.frontends.tui.pages.usage import UsageScreen
from keen_tui.frontends.tui.state.state import TurnRow, UiState
from keen_tui.frontends.tui.widgets.header import HeaderBar

_ROOMY_FROM = 30
"""Rows of the terminal from which blank ones stand between the parts of the page."""
_PANE_SHARE = 0.4
_LEAST_PANE = 3


class ContextScreen(PageScreen[None]):
    """Covers the workspace until esc. `draft` is what stands in the composer.

    Whoever opened it calls `show` when the conversation, the memory or the policy has changed.
    """

    drops = -2
    says = "beside"

    def __init__(
        self,
        styles: Styles,
        glyphs: Glyphs,
        controls: SessionControls,
        state: UiState,
        report: ContextReport,
        *,
        folder: Path,
        draft: str = "",
    ) -> None:
        super().__init__(styles, glyphs)
        self._controls = controls
        self._state = state
        self._draft = draft
        self._view = PolicyView.of(report, POLICIES.index(report.policy))
        self._header = HeaderBar(styles, glyphs, folder=folder)
        self._sums = ContextHead(styles, glyphs, self._view)
        self._table = self.body = PartTable(styles, glyphs, self._view)
        self._pane = PartPane(styles, glyphs)
        self.parts = (self._header, self._sums, self._table, self._pane, self.foot)

    def on_mount(self) -> None:
        self._draw()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.height >= _ROOMY_FROM, "-roomy")
        self._share_height()
        self.redraw()

    def keys(self) -> Sequence[Key]:
        """Those of the memory are shown only where there is some."""
        turn, view = self._chosen_turn, self._view
        return (
            Key("up,down", "part"),
            Key("left,right", "policy"),
            Key("left", does=partial(self._turn_policy, -1)),
            Key("right", does=partial(self._turn_policy, 1)),
            Key("page_policy", "use it" if view.chosen != view.in_use else "", self._use_policy),
            Key("page_edit", "edit memory" if turn and turn.is_editable else "", self._edit),
            Key("enter", does=self._read),
            Key("page_usage", "usage", self._open_usage),
            Key("page_copy", "copy", self._copy),
            Key("escape", "back", self.leave),
        )

    def beside_keys(self) -> Text:
        return Text(ESTIMATES if self.app.size.width >= WIDE_FROM else "", self.look("dim"))

    def show(self, state: UiState) -> None:
        """Ask for the report again and draw it; what was chosen stays chosen."""
        self._state = state
        self.run_worker(self._ask_again(), name="context", group="context", exclusive=True)

    def redraw(self) -> None:
        self._pane.show(self._table.chosen, self._view.chosen)
        super().redraw()

    async def _ask_again(self) -> None:
        self._view = PolicyView.of(await self._controls.context(self._draft), self._view.chosen)
        self._draw()

    def _turn_policy(self, step: int) -> None:
        """Look at another policy."""
        chosen = min(max(self._view.chosen + step, 0), len(POLICIES) - 1)
        self._view = replace(self._view, chosen=chosen)
        self._draw()

    def _read(self) -> None:
        """Read the chosen part whole."""
        if part := self._table.chosen:
            self.app.push_screen(PartReader(self.look, self.glyphs, part, self._view.chosen))

    def _copy(self) -> None:
        """Copy the chosen part as the chosen policy sends it."""
        if part := self._table.chosen:
            self.app.copy_to_clipboard(self._view.size(part).text)
            self.say(f"copied {part.title}")

    def _use_policy(self) -> None:
        """Use the selected policy."""
        policy = POLICIES[self._view.chosen]
        if policy == self._view.report.policy:
            self.say(f"{policy} is already in use.")
            return
        try:
            self._controls.set_policy(policy)
        except KeenError as error:
            self.say(str(error))
        else:
            self.say(POLICY_CHOSEN.format(policy=policy))

    def _open_usage(self) -> None:
        self.app.push_screen(UsageScreen(self.look, self.glyphs, self._state))

    def _edit(self) -> None:
        """Edit what is remembered of the chosen turn."""
        part, row = self._table.chosen, self._chosen_turn
        if part is None or part.kind != "turn":
            self.say("Choose a turn to edit its TurnMemory.")
        elif row is None:
            self.say("Keen knows nothing about this turn.")
        elif not row.is_editable:
            self.say(f"Turn {row.turn} isn't finished, so there is nothing to edit yet.")
        else:
            save = partial(self._controls.edit_memory, row.turn)
            editor = MemoryEditor(self.look, self.glyphs, row, self._view.report.policy, save)
            self.app.push_screen(editor, lambda said: self.say(said or self.sentence))

    @property
    def _chosen_turn(self) -> TurnRow | None:
        part = self._table.chosen
        if part is None or part.kind != "turn":
            return None
        return next((row for row in self._state.turns if row.turn == part.turn), None)

    def on_mouse_scroll_down(self) -> None:
        self._table.move(3)

    def on_mouse_scroll_up(self) -> None:
        self._table.move(-3)

    def _draw(self) -> None:
        state = self._state
        self._header.show_model(state.model)
        self._header.title = state.title or (state.turns[0].title if state.turns else "")
        self._sums.show(self._view)
        self._table.show(self._view)
        self._share_height()
        self.redraw()

    def _share_height(self) -> None:
        """The table gets what it needs, as long as the pane keeps its share."""
        height = self.app.size.height
        head = 2 if height < LOW else 6
        blanks = 4 if height >= _ROOMY_FROM else 0
        room = height - head - blanks - (1 if height < LOW else 2)
        least = max(round(room * _PANE_SHARE), _LEAST_PANE)
        self._table.styles.height = max(min(self._table.wanted_height, room - least), 1)
