"""Where the user writes: the queue, the prompt sign and the prompt itself, on one ground with one bar."""

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
"""What a message begins with that is a command of the user's own. A blank before it makes it a message."""

HELP_SIGN = "?"
"""What opens the help as the first letter. A blank before it makes it a message."""

_HELP = f"screen.{run_by_id('help')}"

SHELL_PROMPT = "$"
"""The prompt sign before a command."""

_QUEUE_SHOWN = 3
_LONG = 50_000
"""Characters of a paste that is cleaned beside the event loop."""

_UNDO_BY_PROTOCOL = {"ctrl+shift+minus": "ctrl+underscore", "ctrl+shift+underscore": "ctrl+underscore"}
"""How terminals with the kitty keyboard protocol name keys that all others send as one."""


class Prompt(TypedText):
    """The editor. Enter sends; up in its first row and down in its last one walk through the history."""

    class Sent(Message):
        """The text is to be sent."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class QueuedWanted(Message):
        """Up was pressed on an empty prompt: the newest queued message is wanted back."""

    class ActionWanted(Message):
        """The action of that id is to be run."""

        def __init__(self, action_id: str) -> None:
            super().__init__()
            self.action_id = action_id

    def __init__(self) -> None:
        super().__init__(id="prompt", compact=True, soft_wrap=True, highlight_cursor_line=False)
        self.workspace = Path()
        """What the paths of dropped files are said from."""
        self.cursor_blink = False
        self._actions = {**editing_actions(), **action_by_key("composer")}
        self._pastes = Pastes()
        self._sent: list[str] = []
        self._place = 0
        self._draft = ""
        self.suggested = ""
        """What was suggested and not sent yet."""
        self._is_suggestion = False
        self._was_cleared = False
        self.queue_waits = False
        self.is_sought = False
        """Whether words to look for are written here, and no message."""
        self.is_typed = False
        """Whether the newest change of the text was the user's own writing."""
        self.choose: Callable[[int], bool] = lambda step: False
        """Takes up and down where there is something to choose."""
        self.take_choice: Callable[[], bool] = lambda: False
        """Takes enter where something is chosen."""

    @property
    def written(self) -> str:
        """The text with the long pastes that labels in it stand for."""
        return self.whole(self.text)

    @property
    def draft(self) -> tuple[str, int]:
        """What is written, with labels for long pastes, and how much of it is before the cursor."""
        return self.text, len(self.document.get_text_range((0, 0), self.cursor_location))

    def put_draft(self, text: str, cursor: int) -> None:
        """Put a draft with its labels in place of what is written."""
        self._show(text)
        before = text[:cursor].split("\n")
        self.move_cursor((len(before) - 1, len(before[-1])))

    def whole(self, text: str) -> str:
        """A draft with the long pastes that labels in it stand for."""
        return self._pastes.unfold(text)

    def labelled(self, text: str) -> str:
        """A message that was sent, with the labels that stood in it for long pastes."""
        return self._pastes.labelled(text)

    @property
    def is_command(self) -> bool:
        """Whether a command of the user's own is written."""
        return self.text.startswith(SHELL_SIGN)

    def action_send(self) -> None:
        """Send what is written, or take what is chosen."""
        if self.take_choice():
            return
        text = self.written
        if not text.strip():
            return
        self.put_away()
        self.post_message(self.Sent(text))

    def action_paste_image(self) -> None:
        """Take the image that is on the clipboard."""
        self.post_message(self.ActionWanted("paste_image"))

    def paste_image(self, size: str, name: str) -> None:
        """Write a label for an image that a message names so."""
        self.insert_here(self._pastes.label("image", size, name))

    def action_find_message(self) -> None:
        """Look for an earlier message."""
        self.post_message(self.ActionWanted("find_message"))

    def action_new_line(self) -> None:
        """Begin a new line."""
        start, end = self.selection
        self.type_over("\n", start, end)

    def action_undo_writing(self) -> None:
        """Take the newest edit back."""
        self.undo()

    def action_redo_writing(self) -> None:
        """Repeat the newest edit that was taken back."""
        self.redo()

    def action_leave_or_delete(self) -> None:
        """Ask to leave when nothing is written, else delete what is right of the cursor."""
        if self.text:
            self.action_delete_right()
        else:
            self.post_message(self.ActionWanted("leave"))

    def before_writing(self, start: Location, end: Location) -> tuple[Location, Location]:
        """Within a label nothing is written, but behind it."""
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
        """Of a label nothing stays: what it stands for would be lost without a word."""
        self.is_typed = True
        return self._with_whole_labels(start, end)

    def _with_whole_labels(self, start: Location, end: Location) -> tuple[Location, Location]:
        (first_row, first), (last_row, last) = sorted((start, end))
        first = self._around(first_row, first)[0]
        last = self._around(last_row, last)[1]
        return (first_row, first), (last_row, last)

    def _around(self, row: int, column: int) -> tuple[int, int]:
        """The ends of the label at that place; a line that is deleted reaches to the row behind the last."""
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
        """Empty the prompt; what was written is the newest of the history."""
        self.keep(self.text)
        self._draft, self._was_cleared = "", False
        self.clear()

    def clear_away(self) -> None:
        """Empty the prompt; up brings what was written back, before anything that waits in the queue."""
        self.put_away()
        self._was_cleared = True

    def remember(self, texts: Sequence[str]) -> None:
        """Put these before what was sent so far."""
        self._sent[:0] = texts
        self._place += len(texts)

    @property
    def sent(self) -> Sequence[str]:
        """What was sent, oldest first."""
        return self._sent

    def write(self, text: str) -> None:
        """Put `text`, folded if it is long, in place of what is written, the cursor at its end. What stood
        there is the newest of the history."""
        self.keep(self.text)
        self.restore(text)

    def suggest(self, text: str) -> None:
        """Put `text` here to be sent or changed; what is typed behind it takes its place."""
        self.write(text)
        self.suggested, self._is_suggestion = text, True

    def suggest_again(self) -> None:
        """Put what was suggested here once more, where nothing else is written."""
        if self.suggested and not self.text:
            self.suggest(self.suggested)

    def restore(self, text: str) -> None:
        """Put `text` in place of what is written, which is no longer wanted."""
        self._show(self._pastes.fold_again(text))

    def keep(self, text: str) -> None:
        """Make this the newest of the history."""
        if text.strip() and self._sent[-1:] != [text]:
            self._sent.append(text)
        self._place = len(self._sent)

    def write_before(self, text: str) -> None:
        """Put `text` before what is written."""
        folded, draft = self._pastes.fold_again(_as_words(text)), self.text
        self._show(f"{folded}\n{draft}" if draft.strip() else folded)

    def go_on(self, text: str) -> None:
        """Write this at the cursor: it was typed while something else had the keys."""
        if text:
            self.insert_here(self._pastes.fold(text))
            self.is_typed = False

    def complete(self, start: int, end: int, text: str) -> None:
        """Put `text` in the place of the columns from `start` to `end` of the cursor's row."""
        row = self.cursor_location[0]
        if result := self.type_over(text, (row, start), (row, end)):
            self.move_cursor(result.end_location)

    def _show(self, text: str) -> None:
        self.is_typed = False
        self.text = text
        self.move_cursor(self.document.end)

    def on_resize(self) -> None:
        """The layout may have been painted before the text was wrapped for it."""
        self.refresh()

    async def on_key(self, event: events.Key) -> None:
        """Keys act in the order they were pressed, however fast they come.

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
        """A name as it stands behind a word."""
        row, column = self.selection.start
        before = self.document.get_line(row)[:column][-1:]
        return f" {name}" if before.strip() else name

    def _recall(self, step: int) -> None:
        """Walk through what was sent; past the newest stands the draft."""
        place = self._place + step
        if not 0 <= place <= len(self._sent):
            return
        if self._place == len(self._sent):
            self._draft = self.text
        self._place, self._was_cleared = place, False
        self._show(self._draft if place == len(self._sent) else self._sent[place])


def _as_words(text: str) -> str:
    """A message that comes back says what it said: without the blank it could be run instead of sent."""
    return f" {text}" if text[:1] in ("/", SHELL_SIGN) else text


class Composer(RowWidget):
    """Draws bar, queue and prompt sign around the prompt."""

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__(styles, glyphs, id="composer")
        self.prompt = Prompt()
        self._queue: tuple[str, ...] = ()
        self._steered: tuple[str, ...] = ()
        self._key_sends = ""
        """What the key does that sends the oldest queued message now, "" if it does nothing."""
        self._tip = ""
        self.flat = False
        """Whether it has no blank rows, as in low terminals."""
        self._text_rows = 1

    def compose(self) -> ComposeResult:
        yield self.prompt

    def on_mount(self) -> None:
        self.watch(self.prompt, "has_focus", lambda: self.changed(), init=False)
        self._place_prompt()

    def show(self, state: UiState) -> None:
        """Draw this state's queue, and its hint in the empty prompt."""
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
        """With or without the blank rows above and below."""
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
        """A new layout costs more than all else that a key does: only where the prompt grew or shrank."""
        rows = self.prompt.wrapped_document.height
        self.changed(layout=rows != self._text_rows)
        self._text_rows = rows

    def on_click(self) -> None:
        self.prompt.focus()

    def _above(self) -> int:
        return (0 if self.flat else 1) + min(len(self._waiting), _QUEUE_SHOWN)

    @property
    def _waiting(self) -> tuple[str, ...]:
        """All messages that wait, in the order in which they will go."""
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
