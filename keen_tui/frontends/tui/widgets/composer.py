"""The composer, where the user writes: the queued messages, the prompt sign and the prompt (the editor)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.geometry import Size
from textual.message import Message
from textual.widgets.text_area import Location

from keen_tui.frontends.tui.keys.keymap import action_by_key, run_by_id, shown
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.layout import RIGHT_MARGIN, TEXT_EDGE
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.terminal.typed_text import TypedText, editing_actions
from keen_tui.frontends.tui.widgets.pastes import Pastes, pasted
from keen_tui.frontends.tui.widgets.phrases import composer_hint
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, cut_row, indented, spread
from keen_tui.text.sanitize import clean
from keen_tui.text.units import first_line

if TYPE_CHECKING:
    from keen_tui.frontends.tui.state.state import UiState

SHELL_SIGN = "!"
"""The first character of a shell command of the user. With a space before it the text is a message."""

HELP_SIGN = "?"
"""The key that opens the help while the prompt is empty. After a space it is a letter like others."""

_HELP = f"screen.{run_by_id('help')}"

SHELL_PROMPT = "$"
"""The prompt sign before a command."""

_QUEUE_SHOWN = 3
_LONG = 50_000
"""The fewest characters of a paste that is cleaned in a thread, so that the screen doesn't wait."""

_UNDO_BY_PROTOCOL = {"ctrl+shift+minus": "ctrl+underscore", "ctrl+shift+underscore": "ctrl+underscore"}
"""Names of keys in the kitty keyboard protocol, and the name of the same key in all other terminals."""


class Prompt(TypedText):
    """The editor. Enter sends its text; up in the first row and down in the last one recall sent texts."""

    class Sent(Message):
        """The user sends this text."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class QueuedWanted(Message):
        """Up was pressed in an empty prompt: the user wants to edit the newest queued message."""

    class ActionWanted(Message):
        """The user wants to run the action with this id."""

        def __init__(self, action_id: str) -> None:
            super().__init__()
            self.action_id = action_id

    def __init__(self) -> None:
        super().__init__(id="prompt", compact=True, soft_wrap=True, highlight_cursor_line=False)
        self.workspace = Path()
        """The folder that paths of dropped files are relative to."""
        self.cursor_blink = False
        self._actions = {**editing_actions(), **action_by_key("composer")}
        self._pastes = Pastes()
        self._sent: list[str] = []
        self._place = 0
        self._draft = ""
        self.suggested = ""
        """The newest suggestion that wasn't sent, "" for none."""
        self._is_suggestion = False
        self._was_cleared = False
        self.queue_waits = False
        self.is_sought = False
        """Whether the text is a search for an earlier message, not a message."""
        self.is_typed = False
        """Whether the user typed the newest change. False if the program put text here."""
        self.choose: Callable[[int], bool] = lambda step: False
        """Called with -1 for up and 1 for down. Returns True if it moved the choice in an open list."""
        self.take_choice: Callable[[], bool] = lambda: False
        """Called for enter. Returns True if it took the choice of an open list."""

    @property
    def written(self) -> str:
        """The text, each label replaced by the long paste that it stands for."""
        return self.whole(self.text)

    @property
    def draft(self) -> tuple[str, int]:
        """The text, with labels for long pastes, and the number of characters before the cursor."""
        return self.text, len(self.document.get_text_range((0, 0), self.cursor_location))

    def put_draft(self, text: str, cursor: int) -> None:
        """Replace the text by a draft with its labels, and put the cursor after `cursor` characters."""
        self._show(text)
        before = text[:cursor].split("\n")
        self.move_cursor((len(before) - 1, len(before[-1])))

    def whole(self, text: str) -> str:
        """Returns a draft, each label replaced by the long paste that it stands for."""
        return self._pastes.unfold(text)

    def labelled(self, text: str) -> str:
        """Returns a sent message, its long pastes replaced by their labels again."""
        return self._pastes.labelled(text)

    @property
    def is_command(self) -> bool:
        """Whether the text is a shell command of the user."""
        return self.text.startswith(SHELL_SIGN)

    def action_send(self) -> None:
        """Take the choice of an open list, or send the text."""
        if self.take_choice():
            return
        text = self.written
        if not text.strip():
            return
        self.put_away()
        self.post_message(self.Sent(text))

    def action_paste_image(self) -> None:
        """Ask for the image on the clipboard."""
        self.post_message(self.ActionWanted("paste_image"))

    def paste_image(self, size: str, name: str) -> None:
        """Insert a label for an image. `name` is the path that the message will contain."""
        self.insert_here(self._pastes.label("image", size, name))

    def action_find_message(self) -> None:
        """Ask for the search among earlier messages."""
        self.post_message(self.ActionWanted("find_message"))

    def action_new_line(self) -> None:
        """Begin a new line."""
        start, end = self.selection
        self.type_over("\n", start, end)

    def action_undo_writing(self) -> None:
        """Undo the newest edit."""
        self.undo()

    def action_redo_writing(self) -> None:
        """Redo the edit that was undone last."""
        self.redo()

    def action_leave_or_delete(self) -> None:
        """Quit if the prompt is empty; otherwise delete the character at the cursor."""
        if self.text:
            self.action_delete_right()
        else:
            self.post_message(self.ActionWanted("leave"))

    def before_writing(self, start: Location, end: Location) -> tuple[Location, Location]:
        """Returns the range that typed text should replace. Inside a label that is the place behind it. A
        suggestion that wasn't edited is replaced as a whole."""
        if self._is_suggestion and self.text == self.suggested and start == end == self.document.end:
            self.keep(self.text)
            self._is_suggestion = False
            start = (0, 0)
        elif start == end:
            row, column = start
            start = end = (row, self._around(row, column)[1])
        else:
            start, end = self._with_whole_labels(start, end)
        self.is_typed = True
        return start, end

    def before_deleting(self, start: Location, end: Location) -> tuple[Location, Location]:
        """Returns the range to delete, extended to whole labels: half a label would lose its paste."""
        self.is_typed = True
        return self._with_whole_labels(start, end)

    def _with_whole_labels(self, start: Location, end: Location) -> tuple[Location, Location]:
        (first_row, first), (last_row, last) = sorted((start, end))
        first = self._around(first_row, first)[0]
        last = self._around(last_row, last)[1]
        return (first_row, first), (last_row, last)

    def _around(self, row: int, column: int) -> tuple[int, int]:
        """Returns the first and the last column of the label at this place, or the column twice if there is
        none. The row may be the one behind the last, where the range of a deleted line ends."""
        if row >= self.document.line_count:
            return column, column
        return self._pastes.around(self.document.get_line(row), column)

    def action_cursor_up(self, select: bool = False) -> None:
        if not select and self.choose(-1):
            return
        if select or not self.cursor_at_first_line:
            super().action_cursor_up(select)
        elif self.queue_waits and not self.text and not self._was_cleared:
            self.post_message(self.QueuedWanted())
        else:
            self._recall(-1)

    def action_cursor_down(self, select: bool = False) -> None:
        if not select and self.choose(1):
            return
        if select or not self.cursor_at_last_line:
            super().action_cursor_down(select)
        else:
            self._recall(1)

    def put_away(self) -> None:
        """Empty the prompt, and make its text the newest one in the history."""
        self.keep(self.text)
        self._draft, self._was_cleared = "", False
        self.clear()

    def clear_away(self) -> None:
        """Like `put_away`, and the next up brings the text back, not the newest queued message."""
        self.put_away()
        self._was_cleared = True

    def remember(self, texts: Sequence[str]) -> None:
        """Add texts of earlier sessions, oldest first, before those that were sent in this one."""
        self._sent[:0] = texts
        self._place += len(texts)

    @property
    def sent(self) -> Sequence[str]:
        """The history: sent texts, oldest first."""
        return self._sent

    def write(self, text: str) -> None:
        """Replace the prompt's text, and put the cursor at the end. The text from before becomes the newest
        one in the history."""
        self.keep(self.text)
        self.restore(text)

    def suggest(self, text: str) -> None:
        """Write a text that the user can send or edit. Typing at its end replaces it."""
        self.write(text)
        self.suggested, self._is_suggestion = text, True

    def suggest_again(self) -> None:
        """Write the newest suggestion again if the prompt is empty."""
        if self.suggested and not self.text:
            self.suggest(self.suggested)

    def restore(self, text: str) -> None:
        """Replace the prompt's text, which isn't kept in the history."""
        self._show(self._pastes.fold_again(text))

    def keep(self, text: str) -> None:
        """Add a text to the history as the newest one, unless it is already."""
        if text.strip() and self._sent[-1:] != [text]:
            self._sent.append(text)
        self._place = len(self._sent)

    def write_before(self, text: str) -> None:
        """Insert a message that came back, in lines of its own before the text."""
        folded, draft = self._pastes.fold_again(_as_words(text)), self.text
        self._show(f"{folded}\n{draft}" if draft.strip() else folded)

    def go_on(self, text: str) -> None:
        """Insert at the cursor what was typed while another widget had the focus."""
        if text:
            self.insert_here(self._pastes.fold(text))
            self.is_typed = False

    def complete(self, start: int, end: int, text: str) -> None:
        """Replace the columns from `start` to `end` of the cursor's row."""
        row = self.cursor_location[0]
        if result := self.type_over(text, (row, start), (row, end)):
            self.move_cursor(result.end_location)

    def _show(self, text: str) -> None:
        self.is_typed = False
        self.text = text
        self.move_cursor(self.document.end)

    def on_resize(self) -> None:
        """Paint again: the text may have been wrapped after the first paint at this size."""
        self.refresh()

    async def on_key(self, event: events.Key) -> None:
        """Run the action of a key here, so that keys act in the order in which they were pressed.

        Textual would look up a key only after it has bubbled to the app, or, with priority, before it
        reaches the editor: either way it acts out of turn with letters that still wait.
        """
        is_for_help = event.character == HELP_SIGN and not (self.text or self.is_sought)
        own = _HELP if is_for_help else self._actions.get(_UNDO_BY_PROTOCOL.get(event.key, event.key))
        if own:
            event.stop()
            event.prevent_default()
            await self.run_action(own)

    async def on_paste(self, event: events.Paste) -> None:
        from keen_tui.frontends.tui.terminal.dropped_files import dropped_image, may_be_image  # noqa: PLC0415 - not before the first paint

        event.prevent_default()
        event.stop()
        text = await asyncio.to_thread(pasted, event.text) if len(event.text) > _LONG else pasted(event.text)
        if not text:  # what some terminals send for an image
            self.action_paste_image()
        elif may_be_image(text):
            name = await asyncio.to_thread(dropped_image, text, self.workspace)
            self.insert_here(self._apart(name) if name else text)
        else:
            self.insert_here(self._pastes.fold(text))

    def _apart(self, name: str) -> str:
        """Returns the name, with a space before it if the cursor is behind a word."""
        row, column = self.selection.start
        before = self.document.get_line(row)[:column][-1:]
        return f" {name}" if before.strip() else name

    def _recall(self, step: int) -> None:
        """Show the next older (-1) or newer (1) text of the history. The draft comes after the newest."""
        place = self._place + step
        if not 0 <= place <= len(self._sent):
            return
        if self._place == len(self._sent):
            self._draft = self.text
        self._place, self._was_cleared = place, False
        self._show(self._draft if place == len(self._sent) else self._sent[place])


def _as_words(text: str) -> str:
    """Returns a message as it can be sent again. One that begins like a command gets a space, or it would be
    run."""
    return f" {text}" if text[:1] in ("/", SHELL_SIGN) else text


class Composer(RowWidget):
    """Draws the bar, the queued messages and the prompt sign around the prompt."""

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__(styles, glyphs, id="composer")
        self.prompt = Prompt()
        self._queue: tuple[str, ...] = ()
        self._steered: tuple[str, ...] = ()
        self._key_sends = ""
        """The words for the key that sends the oldest queued message now, "" if it does nothing."""
        self._tip = ""
        self.flat = False
        """Whether the empty rows above and below are left out, as in low terminals."""
        self._text_rows = 1

    def compose(self) -> ComposeResult:
        yield self.prompt

    def on_mount(self) -> None:
        self.watch(self.prompt, "has_focus", lambda: self.changed(), init=False)
        self._place_prompt()

    def show(self, state: UiState) -> None:
        """Show the queued messages of this state, and its hint while the prompt is empty."""
        hint = composer_hint(state)
        if self.prompt.placeholder != hint:
            self.prompt.placeholder = hint
        key_sends = "now" if state.turn_running else "" if state.running else "send"
        waiting = (state.queue, state.steered, key_sends)
        if waiting != (self._queue, self._steered, self._key_sends):
            self._queue, self._steered, self._key_sends = waiting
            self.prompt.queue_waits = bool(self._waiting)
            self._place_prompt()

    def show_tip(self, words: str) -> None:
        """Show this tip in the last row, "" for none."""
        if words != self._tip:
            self._tip = words
            self.changed()

    def set_flat(self, flat: bool) -> None:
        """Leave out the empty rows above and below, or put them back."""
        if flat != self.flat:
            self.flat = flat
            self._place_prompt()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        most = 3 if self.flat else 10
        text_rows = max(self.prompt.wrapped_document.height, 1)
        return min(text_rows, most) + self._above() + (0 if self.flat else 1)

    def rows(self, width: int, height: int) -> list[Text]:
        focused = self.prompt.has_focus
        bar = Text(self.glyphs.bar, self.look("accent" if focused else "edge"))
        rows = [Text()] * (0 if self.flat else 1) + self._queue_rows(width - 1 - RIGHT_MARGIN)
        sign = Text.assemble(
            " ",
            (SHELL_PROMPT if self.prompt.is_command else self.glyphs.prompt, self.look("accent", bold=True)),
        )
        rows.append(sign)
        rows = (rows + [Text()] * height)[:height]
        if self._tip and not self.flat:
            tip = Text(self._tip, self.look("soft"))
            rows[-1] = indented(
                cut_row(tip, width - TEXT_EDGE - RIGHT_MARGIN, self.glyphs.more), TEXT_EDGE - 1
            )
        return [Text.assemble(bar, row) for row in rows]

    def on_text_area_changed(self) -> None:
        """Lay out the screen only if the number of rows changed: a layout is the slowest part of a key."""
        rows = self.prompt.wrapped_document.height
        self.changed(layout=rows != self._text_rows)
        self._text_rows = rows

    def on_click(self) -> None:
        self.prompt.focus()

    def _above(self) -> int:
        return (0 if self.flat else 1) + min(len(self._waiting), _QUEUE_SHOWN)

    @property
    def _waiting(self) -> tuple[str, ...]:
        """The waiting messages, in the order in which they will be sent."""
        return (*self._steered, *self._queue)

    def _place_prompt(self) -> None:
        self.prompt.styles.margin = (self._above(), RIGHT_MARGIN + 1, 0, TEXT_EDGE)
        self.prompt.styles.max_height = 3 if self.flat else 10
        self.changed(layout=True)

    def _queue_rows(self, width: int) -> list[Text]:
        hidden = max(len(self._waiting) - _QUEUE_SHOWN, 0)
        places = range(hidden, len(self._waiting))
        return [self._queue_row(place, hidden if place == hidden else 0, width) for place in places]

    def _queue_row(self, place: int, hidden: int, width: int) -> Text:
        look, glyphs = self.look, self.glyphs
        mark = f" {glyphs.queued}" + ("" if len(glyphs.queued) > 1 else " ")
        left = Text.assemble((mark, look("dim")), (clean(first_line(self._waiting[place])), look("soft")))
        is_steered = place < len(self._steered)
        fact = "sent with the next tool results" if is_steered else "queued"
        facts = [Text(f"{fact}, {hidden} more before it" if hidden else fact, look("dim"))]
        if not self.prompt.text:
            first_queued = max(len(self._steered), len(self._waiting) - _QUEUE_SHOWN)
            if place == first_queued and self._key_sends:
                facts.append(self.key_hint(shown("steer"), self._key_sends))
            if place == len(self._waiting) - 1:
                facts.append(self.key_hint(glyphs.up, "edit"))
        return spread(left, self.fact(*facts), width, glyphs.more)
