"""The bottom pane that asks: it takes the composer's place until it is answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget

from keen_tui.domain.choices import GUARD_SECONDS
from keen_tui.frontends.tui.keys.keymap import action_by_key
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.questions.answering import Answering
from keen_tui.frontends.tui.questions.draft_holder import DraftHolder
from keen_tui.frontends.tui.questions.question import GivenAnswer, Question
from keen_tui.frontends.tui.questions.question_page import QuestionPage, QuestionStyle, laid_out
from keen_tui.frontends.tui.widgets.pastes import pasted
from keen_tui.frontends.tui.widgets.row_widget import RowWidget

_ARROWS: Final = {"up": -1, "down": 1}
READ_SECONDS: Final = 1.0
"""Seconds in view after which words are taken for an answer: whoever begins to write then has seen it."""


class QuestionPane(Widget):
    """Asks one question at a time: `ask` shows it, `close` hides the pane.

    Text typed while a question is open goes to the answer that takes words, behind the draft that it
    interrupts. Text that isn't sent with an answer goes back to the composer.
    docs/decisions/019-typing-at-questions.md has the rules.

    Args:
        room: the rows that are available for the question.
    """

    class Answered(Message):
        """The pane's own note that the question `question` was answered."""

        def __init__(self, question: Question, given: GivenAnswer) -> None:
            super().__init__()
            self.question = question
            self.given = given

    def __init__(
        self,
        styles: Styles,
        glyphs: Glyphs,
        *,
        composer: DraftHolder,
        room: Callable[[], int],
        guard_seconds: float = GUARD_SECONDS,
        read_seconds: float = READ_SECONDS,
    ) -> None:
        super().__init__(id="question")
        self._view = QuestionView(styles, glyphs, self)
        self._composer = composer
        self._put_away = ""
        """The draft that esc gave back. As long as it is unchanged, no question interrupts it."""
        self.room = room
        self.guard_seconds = guard_seconds
        self.read_seconds = read_seconds
        self._guards = 0
        self._is_hidden = False
        self._is_answered = False
        self._answer: asyncio.Future[GivenAnswer | None] | None = None
        self.question: Question | None = None
        """The open question."""
        self.answering = Answering(0, None, None)
        """The meaning of keys at the open question."""
        self.guarded = True
        """Whether keys can't answer yet, because nobody can have read the question."""
        self.was_read = False
        """Whether the question has been in view for `read_seconds`."""
        self.nudged = False
        """Whether enter was pressed although nothing is chosen."""
        self.display = False

    def compose(self) -> ComposeResult:
        yield self._view

    @property
    def view(self) -> Widget:
        """The part that takes the keys."""
        return self._view

    @property
    def in_a_sentence(self) -> bool:
        """Whether keys may belong to the text in the composer."""
        answering = self.answering
        if self.question is None or not self.question.interrupts or answering.are_words_kept:
            return False
        return bool((answering.line.text if answering.draft else self._composer.draft[0]).strip())

    def ask(self, question: Question) -> asyncio.Future[GivenAnswer | None]:
        """Show the question and take the focus. Returns the answer, or None once the question is closed or
        another one is asked."""
        self._give_words_back()
        self._resolve(None)
        self._answer = answer = asyncio.get_running_loop().create_future()
        self.question = question
        self.answering = Answering(
            len(question.choices), question.preselected, question.takes_words, question.letters
        )
        if question.interrupts and self._composer.draft[0] == self._put_away:
            self.answering.are_words_kept = bool(self._put_away)
        else:
            self._take_up_draft()
        self.nudged = self._is_answered = False
        self._view.open()
        self.display = True
        self.take_focus()
        self.guard()
        return answer

    def close(self) -> None:
        """Hide the pane. Unsent text goes back to the draft."""
        self._give_words_back()
        self._resolve(None)
        self.question = None
        self.display = False

    def on_unmount(self) -> None:
        self._resolve(None)

    def set_hidden(self, hidden: bool) -> None:
        """Set whether the pane is hidden. While it is, and for a moment afterwards, keys don't answer."""
        if hidden != self._is_hidden:
            self._is_hidden = hidden
            self.guard()

    def guard(self) -> None:
        """Ignore answering keys for a moment."""
        self._guards += 1
        number = self._guards
        self.was_read = False
        if not self.guarded:
            self.guarded = True
            self._view.changed()
        self.set_timer(self.guard_seconds, lambda: self._lift_guard(number))
        self.set_timer(self.read_seconds, lambda: self._note_read(number))

    def _lift_guard(self, number: int) -> None:
        """Let keys answer again, unless `guard` was called again meanwhile."""
        if number == self._guards and not self._is_hidden:
            self.guarded = False
            self._view.changed()

    def _note_read(self, number: int) -> None:
        if number == self._guards and not self._is_hidden:
            self.was_read = True

    def take_focus(self) -> None:
        """Let the keys come here, from the very next one on."""
        if self.is_attached:
            self.screen.set_focus(self._view, scroll_visible=False)

    def lay_out(self) -> None:
        """Lay the question out again, because its room has changed."""
        if self.question is not None:
            self._view.changed(layout=True)

    def set_look(self, styles: Styles, glyphs: Glyphs) -> None:
        """Draw with another theme or other glyphs."""
        self._view.set_look(styles, glyphs)

    def back(self) -> bool:
        """Go back from the typed text to the answers, and give the text to the composer; False if there is
        none."""
        if not self.answering.goes_back:
            return False
        self._give_words_back()
        draft, _ = self._composer.draft
        self._put_away = draft if draft.strip() else ""
        self.answering.are_words_kept = bool(self._put_away)
        self._view.changed(layout=True)
        return True

    @property
    def is_cut(self) -> bool:
        """Whether the pane has room for only a part of the body."""
        return self._view.is_cut

    def scroll_body(self, pages: int) -> bool:
        """Scroll a long body by pages; False if it is completely in view."""
        return self._view.scroll_body(pages, by_pages=True)

    def take(self, index: int) -> None:
        """Give the answer with that index, or ask for its words first."""
        question, answering = self.question, self.answering
        if question is None or self.guarded or self._is_answered:
            return
        choice = question.choices[index]
        is_open = answering.is_writing and answering.marked == index
        words = self._composer.whole(answering.line.text).strip() if choice.takes_words else ""
        if choice.takes_words and not words and (choice.needs_words or not is_open):
            self._take_up_draft()
            answering.open_words(index)
            self._view.changed(layout=True)
            return
        if choice.takes_words:
            self._send_draft(answering.line.take())
        answering.lone_key = ""
        self._is_answered = True
        self.post_message(self.Answered(question, GivenAnswer(choice=choice.id, words=words)))

    def take_key(self, event: events.Key) -> bool:
        """Handle a key; False if it does nothing here."""
        was_guarded = self.guarded
        if was_guarded:
            self.guard()  # a person who is still typing hasn't read the question
        text = _typed(event)
        if self.question is None:
            self._composer.go_on(text)
            return bool(text)
        self.nudged = False
        done = self._write(text, was_guarded) if text else self._act(event.key, was_guarded)
        if done:
            self._view.changed(layout=True)
        return done

    def take_paste(self, text: str) -> None:
        """A paste is part of the words."""
        if self.question is None:
            self._composer.go_on(text)
            return
        self.nudged = False
        self._take_up_draft()
        self.answering.paste(text, was_read=self.was_read)
        self._view.changed(layout=True)

    @on(Answered)
    async def _answered(self, message: Answered) -> None:
        """Handled after the key, so that an answer to a question that was settled meanwhile doesn't go to
        another one."""
        message.stop()
        if message.question is self.question:
            self._resolve(message.given)
            await asyncio.sleep(0)  # the asker acts on it before the next key
        else:
            self._composer.go_on(message.given.words)

    def _resolve(self, given: GivenAnswer | None) -> None:
        if self._answer and not self._answer.done():
            self._answer.set_result(given)

    def _write(self, text: str, was_guarded: bool) -> bool:
        answering = self.answering
        if was_guarded or not answering.chooses(text, in_a_sentence=self.in_a_sentence):
            self._take_up_draft()
        if was_guarded:
            answering.paste(text, was_read=False)
        else:
            answering.write(text, in_a_sentence=self.in_a_sentence, was_read=self.was_read)
        return True

    def _act(self, key: str, was_guarded: bool) -> bool:
        if key == "enter":
            if not was_guarded:
                self._enter()
            return True
        if key in _ARROWS:
            if not was_guarded:
                self.answering.choose(_ARROWS[key], in_a_sentence=self.in_a_sentence)
            return True
        return self.answering.edit(key)

    def _enter(self) -> None:
        index = self.answering.answer(in_a_sentence=self.in_a_sentence)
        if index is None:
            self.nudged = True
        else:
            self.take(index)

    def _take_up_draft(self) -> None:
        """Let what is typed go on with the draft of the composer."""
        question, answering = self.question, self.answering
        draft, cursor = self._composer.draft
        if question is None or not question.interrupts or question.takes_words is None:
            return
        if draft.strip() and not (answering.draft or answering.line.text or answering.is_writing):
            answering.go_on(draft, cursor)

    def _give_words_back(self) -> None:
        """Put unsent words back into the composer, in place of the draft that they began with."""
        draft, cursor = self.answering.draft, self.answering.line.cursor
        words = self.answering.take_words()
        if draft and draft == self._composer.draft[0]:
            if words != draft:
                self._composer.put_draft(words, cursor)
        elif words:
            self._composer.go_on(words)

    def _send_draft(self, words: str) -> None:
        """Remove the draft that went with these words. If it was changed, it is in the history."""
        draft, self.answering.draft = self.answering.draft, ""
        if draft and draft == self._composer.draft[0]:
            if draft not in words:
                self._composer.keep(draft)
            self._composer.put_draft("", 0)


class QuestionView(RowWidget, can_focus=True):
    """Draws the question and passes keys on, in the order in which they were pressed."""

    def __init__(self, styles: Styles, glyphs: Glyphs, pane: QuestionPane) -> None:
        super().__init__(styles, glyphs, id="question-view")
        self._pane = pane
        self._page = QuestionPage([], {}, 0, 0, 0)
        self._first = 0

    def open(self) -> None:
        """Show the question of the pane from its beginning."""
        self._first = 0
        self.changed(layout=True)

    @property
    def is_cut(self) -> bool:
        """Whether the body is longer than its room in the pane."""
        return self._page.body_rows > self._page.body_room

    def scroll_body(self, step: int, *, by_pages: bool = False) -> bool:
        """Scroll the body by rows or pages; False if it is completely in view."""
        page = self._page
        if not self.is_cut:
            return False
        rows = step * max(page.body_room - 1, 1) if by_pages else step
        self._first = min(max(page.body_first + rows, 0), page.body_rows - page.body_room + 1)
        self.changed()
        return True

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._laid_out(width).rows)

    def rows(self, width: int, height: int) -> list[Text]:
        self._page = self._laid_out(width)
        bar = Text(self.glyphs.bar, self.look("wait"))
        return [Text.assemble(bar, row) for row in self._page.rows]

    def _laid_out(self, width: int) -> QuestionPage:
        pane = self._pane
        if pane.question is None:
            return QuestionPage([], {}, 0, 0, 0)
        look = QuestionStyle(
            self.look, self.glyphs, pane.guarded, pane.in_a_sentence, pane.nudged, has_cursor=self.has_focus
        )
        return laid_out(
            pane.question,
            pane.answering,
            look,
            width=width,
            room=pane.room(),
            screen_height=self.app.size.height,
            first=self._first,
        )

    async def on_key(self, event: events.Key) -> None:
        if self._pane.take_key(event):
            event.stop()
            event.prevent_default()

    async def on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self._pane.take_paste(pasted(event.text))

    def on_click(self, event: events.Click) -> None:
        index = self._page.choice_at.get(event.y)
        if index is not None:
            self._pane.take(index)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self.scroll_body(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self.scroll_body(-3)


def _typed(event: events.Key) -> str:
    """The text that a key writes, "" for none."""
    if action_by_key("composer").get(event.key) == "new_line":
        return "\n"
    return event.character or "" if event.is_printable else ""
