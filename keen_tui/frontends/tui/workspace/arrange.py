"""The panes are laid out for the size of the terminal, and the panels as wide as the user wants them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from msgspec.structs import replace
from textual.geometry import Size

from keen_tui.frontends.tui.keys.keymap import shown
from keen_tui.frontends.tui.look.layout import SIDEBAR_STEP, Layout, is_displayed, layout_of
from keen_tui.frontends.tui.state.panel_choices import PanelChoices, keep_choices, kept_choices
from keen_tui.frontends.tui.workspace.view import WorkspaceView

_HIDDEN: Final = "The panels are hidden: {key} shows them."


class Arrangement:
    """Where the panes stand.

    Args:
        file: remembers how wide the panels were made, and whether Activity is open.
    """

    def __init__(self, view: WorkspaceView, file: Path | None) -> None:
        self._view = view
        self._file = file
        self._choices = kept_choices(file)
        view.sidebar.set_activity_folds(not self._choices.activity_open)
        self._beside_wanted = True
        self._overlay_wanted = False
        self._asked = False
        self._size: Size | None = None
        self._known: Layout | None = None
        self._keeping: asyncio.Lock | None = None

    @property
    def overlay_open(self) -> bool:
        """Whether the panels lie over the conversation now."""
        return bool(self._known and not self._known.wide and self._overlay_wanted)

    def resize(self, size: Size) -> None:
        """The terminal has this size now."""
        if size == self._size:
            return
        self._size = size
        self._known = layout_of(size, self._choices.sidebar_columns)
        self._apply()

    def set_asked(self, asked: bool) -> None:
        """A question is open, or none: in a small window it gets the room of other panes."""
        self._asked = asked
        self._make_room()

    def toggle_sidebar(self) -> None:
        """Show or hide the panels, beside or over the conversation."""
        if self._known and self._known.wide:
            self._beside_wanted = not self._beside_wanted
        else:
            self._overlay_wanted = not self._overlay_wanted
        self._apply()

    def widen(self, way: int) -> None:
        """Make the panels a step wider (1) or narrower (-1), and have that written down."""
        view = self._view
        if not view.sidebar.display:
            view.say(_HIDDEN.format(key=shown("sidebar")))
        elif not self._give_columns(way * SIDEBAR_STEP):
            view.say(f"The panels can't get {'wider' if way > 0 else 'narrower'} in this window.")

    def fold_activity(self) -> None:
        """Show all of Activity, or a single row while calls are quick, and have that written down. Hidden
        panels are only shown."""
        if not self._view.sidebar.display:
            self.toggle_sidebar()
            return
        is_open = not self._choices.activity_open
        self._view.sidebar.set_activity_folds(not is_open)
        self._choose(replace(self._choices, activity_open=is_open))

    def show_row(self, turn: int, call_id: str | None) -> None:
        """Lead to the row of a call or a turn in Activity."""
        sidebar = self._view.sidebar
        place = sidebar.activity.place_of(turn, call_id)
        if place is None:
            self._view.say("This has no row in Activity.")
            return
        if not sidebar.display:
            self.toggle_sidebar()
        sidebar.activity.stand_on(place)
        self._view.set_focus(sidebar.activity)

    def room_for_question(self) -> int:
        """Rows that a question can have: all that nothing else needs."""
        view = self._view
        shape = self._shape
        notes = [note for note in (view.notice, view.guide) if note.display]
        said = sum(len(note.rows(note.size.width, 0)) + (not shape.low) for note in notes)
        said += view.disk_offer.display * (1 + (not shape.low))
        # the status bar; a row of the transcript; header and strip
        others = 1 if shape.cramped else 2 if shape.low else 3 + (not shape.wide)
        return view.app.size.height - others - said

    def _give_columns(self, step: int) -> bool:
        """Give the panels so many columns more, or fewer. False: there is no room for that."""
        size = self._view.app.size
        before = self._known or layout_of(size)
        wanted = before.sidebar_columns + step
        shape = layout_of(size, wanted)
        if shape.sidebar_columns == before.sidebar_columns:
            return False
        columns = 0 if wanted == shape.usual_columns else shape.sidebar_columns
        self._choose(replace(self._choices, sidebar_columns=columns))
        self._known = shape
        self._apply()
        return True

    def _choose(self, choices: PanelChoices) -> None:
        """Note what the user wants, and write it down."""
        self._choices = choices
        if self._file:
            self._view.work(self._keep(self._file), "sidebar")

    async def _keep(self, file: Path) -> None:
        """Write the newest choices down, one after another."""
        self._keeping = self._keeping or asyncio.Lock()
        async with self._keeping:
            try:
                await asyncio.to_thread(keep_choices, file, self._choices)
            except OSError as error:
                self._view.say(f"Keen can't save the layout of the panels: {error.strerror}.")

    def _apply(self) -> None:
        view = self._view
        shape = self._shape
        beside = self._is_beside(shape)
        view.sidebar.display = beside or self.overlay_open
        view.sidebar.styles.width = shape.sidebar_columns
        view.sidebar.set_overlaid(self.overlay_open)
        view.set_class(shape.low, "-low")
        view.set_class(shape.tiny, "-tiny")
        self._make_room()
        view.composer.set_flat(shape.flat)
        view.question_pane.set_hidden(shape.tiny)
        view.question_pane.refresh(layout=True)
        if view.focused and not is_displayed(view.focused):
            view.focus_input()  # at once: else Textual moves it to the nearest pane
        view.call_after_refresh(self._laid_out)

    def _make_room(self) -> None:
        """Show those panes of the conversation that have room. Not by classes of the screen: a change of
        those makes Textual work out the styles of every widget anew."""
        view, shape = self._view, self._shape
        view.strip.display = not self._is_beside(shape) and not (shape.low and self._asked)
        view.stage.display = not (shape.cramped and self._asked)
        view.conversation.styles.align_vertical = "top" if view.stage.display else "bottom"

    @property
    def _shape(self) -> Layout:
        return self._known or layout_of(self._view.app.size, self._choices.sidebar_columns)

    def _is_beside(self, shape: Layout) -> bool:
        """Whether the panels stand beside the conversation."""
        return shape.wide and self._beside_wanted

    def _laid_out(self) -> None:
        """Move the focus out of a pane that the styles hide, and to the input where nothing has it."""
        view = self._view
        if view.focused is None or not is_displayed(view.focused):
            view.focus_input()
        view.show_status()
