"""The context view: what the next request holds, part by part, under each memory policy."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import ClassVar

from msgspec.structs import replace
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from keen_tui.domain.errors import KeenError
from keen_tui.domain.reports import POLICIES, ContextReport
from keen_tui.frontends.shared.commands.memory import POLICY_CHOSEN
from keen_tui.frontends.shared.port import SessionControls
from keen_tui.frontends.tui.keys.keymap import same_key, shown
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.context.columns import WIDE_FROM, PolicyView
from keen_tui.frontends.tui.pages.context.editor import MemoryEditor
from keen_tui.frontends.tui.pages.context.foot import Foot
from keen_tui.frontends.tui.pages.context.head import ESTIMATES, ContextHead
from keen_tui.frontends.tui.pages.context.pane import PartPane
from keen_tui.frontends.tui.pages.context.parts import PartTable
from keen_tui.frontends.tui.pages.context.reader import PartReader
from keen_tui.frontends.tui.pages.usage import UsageScreen
from keen_tui.frontends.tui.state.state import TurnRow, UiState
from keen_tui.frontends.tui.terminal.laid_out_once import KeenScreen
from keen_tui.frontends.tui.widgets.header import HeaderBar

_ROOMY_FROM = 30
"""Rows of the terminal from which blank ones stand between the parts of the page."""
_LOW = 16
"""Rows below which the header and most of the head are left out."""
_PANE_SHARE = 0.4
_LEAST_PANE = 3


class ContextScreen(KeenScreen[None]):
    """Covers the workspace until esc. `draft` is what stands in the composer.

    Whoever opened it calls `show` when the conversation, the memory or the policy has changed.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", show=False),
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("pageup", "move(-10)", show=False),
        Binding("pagedown", "move(10)", show=False),
        Binding("home,ctrl+home", "move(-1000000)", show=False),
        Binding("end,ctrl+end", "move(1000000)", show=False),
        Binding("left", "policy(-1)", show=False),
        Binding("right", "policy(1)", show=False),
        Binding("enter", "read", show=False),
        same_key("page_edit", "edit"),
        same_key("page_policy", "use_policy"),
        same_key("page_usage", "usage"),
        same_key("page_copy", "copy"),
    ]

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
        super().__init__()
        self._controls = controls
        self._state = state
        self._draft = draft
        self._view = PolicyView.of(report, POLICIES.index(report.policy))
        self._header = HeaderBar(styles, glyphs, folder=folder)
        self._head = ContextHead(styles, glyphs, self._view)
        self._table = PartTable(styles, glyphs, self._view)
        self._pane = PartPane(styles, glyphs)
        self._foot = Foot(styles, glyphs)

    def compose(self) -> ComposeResult:
        yield self._header
        yield self._head
        yield self._table
        yield self._pane
        yield self._foot

    def on_mount(self) -> None:
        self._draw()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.height >= _ROOMY_FROM, "-roomy")
        self.set_class(event.size.height < _LOW, "-low")
        self._share_height()
        self._tell()

    def show(self, state: UiState) -> None:
        """Ask for the report again and draw it; what was chosen stays chosen."""
        self._state = state
        self.run_worker(self._ask_again(), name="context", group="context", exclusive=True)

    async def _ask_again(self) -> None:
        self._view = PolicyView.of(await self._controls.context(self._draft), self._view.chosen)
        self._draw()

    def action_move(self, step: int) -> None:
        """Choose another part."""
        self._table.move(step)
        self._foot.say("")
        self._show_part()

    def action_policy(self, step: int) -> None:
        """Look at another policy."""
        chosen = min(max(self._view.chosen + step, 0), len(POLICIES) - 1)
        self._view = replace(self._view, chosen=chosen)
        self._foot.say("")
        self._draw()

    def action_read(self) -> None:
        """Read the chosen part whole."""
        if part := self._table.chosen:
            self.app.push_screen(PartReader(self._foot.look, self._foot.glyphs, part, self._view.chosen))

    def action_copy(self) -> None:
        """Copy the chosen part as the chosen policy sends it."""
        if part := self._table.chosen:
            self.app.copy_to_clipboard(self._view.size(part).text)
            self._foot.say(f"copied {part.title}")

    def action_use_policy(self) -> None:
        """Use the selected policy."""
        policy = POLICIES[self._view.chosen]
        if policy == self._view.report.policy:
            self._foot.say(f"{policy} is already in use.")
            return
        try:
            self._controls.set_policy(policy)
        except KeenError as error:
            self._foot.say(str(error))
        else:
            self._foot.say(POLICY_CHOSEN.format(policy=policy))

    def action_usage(self) -> None:
        """Show what the session has used."""
        self._foot.say("")
        self.app.push_screen(UsageScreen(self._foot.look, self._foot.glyphs, self._state))

    def action_edit(self) -> None:
        """Edit what is remembered of the chosen turn."""
        part = self._table.chosen
        if part is None or part.kind != "turn":
            self._foot.say("Choose a turn to edit its TurnMemory.")
            return
        row = self._chosen_turn
        if row is None:
            self._foot.say("Keen knows nothing about this turn.")
            return
        if not row.is_editable:
            self._foot.say(f"Turn {row.turn} isn't finished, so there is nothing to edit yet.")
            return
        save = partial(self._controls.edit_memory, row.turn)
        editor = MemoryEditor(self._foot.look, self._foot.glyphs, row, self._view.report.policy, save)
        self.app.push_screen(editor, self._edited)

    @property
    def _chosen_turn(self) -> TurnRow | None:
        part = self._table.chosen
        if part is None or part.kind != "turn":
            return None
        return next((row for row in self._state.turns if row.turn == part.turn), None)

    @on(PartTable.Picked)
    def _show_part(self) -> None:
        self._pane.show(self._table.chosen, self._view.chosen)
        self._tell()

    def on_mouse_scroll_down(self) -> None:
        self.action_move(3)

    def on_mouse_scroll_up(self) -> None:
        self.action_move(-3)

    def _edited(self, sentence: str | None) -> None:
        if sentence:
            self._foot.say(sentence)

    def _draw(self) -> None:
        state = self._state
        self._header.show_model(state.model)
        self._header.title = state.title or (state.turns[0].title if state.turns else "")
        self._head.show(self._view)
        self._table.show(self._view)
        self._share_height()
        self._show_part()

    def _share_height(self) -> None:
        """The table gets what it needs, as long as the pane keeps its share."""
        height = self.app.size.height
        head = 2 if height < _LOW else 6
        blanks = 4 if height >= _ROOMY_FROM else 0
        room = height - head - blanks - (1 if height < _LOW else 2)
        least = max(round(room * _PANE_SHARE), _LEAST_PANE)
        self._table.styles.height = max(min(self._table.wanted_height, room - least), 1)

    def _tell(self) -> None:
        """The keys; those of the memory only where there is some."""
        glyphs, turn = self._foot.glyphs, self._chosen_turn
        keys = [
            (f"{glyphs.up}{glyphs.down}", "part"),
            (f"{glyphs.left}{glyphs.right}", "policy"),
        ]
        keys += [(shown("page_policy"), "use it")] if self._view.chosen != self._view.in_use else []
        keys += [(shown("page_edit"), "edit memory")] if turn and turn.is_editable else []
        fact = ESTIMATES if self.app.size.width >= WIDE_FROM else ""
        keys += [(shown("page_usage"), "usage"), (shown("page_copy"), "copy")]
        self._foot.show(*keys, ("esc", "back"), fact=fact)
