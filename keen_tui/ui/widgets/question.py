"""The bottom pane that asks: it takes the composer's place until it is answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace
from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from keen_tui.choices import GUARD_SECONDS
from keen_tui.display import PartDisplay
from keen_tui.ui.glyphs import Glyphs
from keen_tui.ui.keymap import shown
from keen_tui.ui.measures import counted
from keen_tui.ui.themes import Styles
from keen_tui.ui.widgets.rows import GAP, Rows, cut_row, indented, spread, wrapped

_TEXT_EDGE = 4
_RIGHT_MARGIN = 2
_ROWS_ELSEWHERE = 3
_MOST_PARTS = 6
_ANSWER_EDGE = 6
"""The column of an answer, behind its mark and number."""
_ENTER_CELLS = 7
"""What the word enter takes at the end of the row that is chosen."""


class Choice(Struct, frozen=True, kw_only=True):
    """A numbered answer. `asks_why` answers open a line for words before they are given; `words_hint` says
    there what is wanted, and with `needs_words` it is not left empty."""

    id: str
    label: str
    consequence: str = ""
    asks_why: bool = False
    needs_words: bool = False
    words_hint: str = "what should be done instead?"


class Question(Struct, frozen=True, kw_only=True):
    """What is asked. `body` draws what it is about in a number of cells; it scrolls when it is long.

    `parts` are told one by one below it. `facts` stand right of the title, `why` says why it asks.
    `preselected` is the index of the answer that enter gives, or None where nothing should be given by a
    mere enter.
    """

    id: str
    title: str
    choices: tuple[Choice, ...]
    facts: str = ""
    body: Callable[[int, Styles, Glyphs], Sequence[Text]] | None = None
    parts: tuple[PartDisplay, ...] = ()
    why: str = ""
    preselected: int | None = 0


class QuestionPane(Widget):
    """Asks one question at a time: `ask` shows it, `close` hides the pane."""

    class Answered(Message):
        """The question `question` was answered with `choice`; `words` were typed with it."""

        def __init__(self, question: Question, choice: Choice, words: str) -> None:
            super().__init__()
            self.question = question
            self.choice = choice
            self.words = words

    def __init__(self, styles: Styles, glyphs: Glyphs, *, guard_seconds: float = GUARD_SECONDS) -> None:
        super().__init__(id="question")
        self._view = QuestionView(styles, glyphs)
        self._guard_seconds = guard_seconds
        self._guards = 0
        self._is_hidden = False
        self._why_choice: Choice | None = None
        self.display = False

    def compose(self) -> ComposeResult:
        yield self._view
        words = Input(id="why", compact=True)
        words.cursor_blink = False
        words.display = False
        yield words

    @property
    def question(self) -> Question | None:
        """The question that is open."""
        return self._view.question

    @property
    def guarded(self) -> bool:
        """Whether keys are still ignored."""
        return self._view.guarded

    def ask(self, question: Question) -> None:
        """Show the question and take the focus."""
        self._view.open(question)
        self._leave_words()
        self.display = True
        self.take_focus()
        self.guard()

    def set_hidden(self, hidden: bool) -> None:
        """Tell whether the pane can be seen: while it can't its keys do nothing, and for a moment after."""
        if hidden != self._is_hidden:
            self._is_hidden = hidden
            self.guard()

    def guard(self) -> None:
        """Ignore keys for a moment from now on."""
        self._guards += 1
        number = self._guards
        self._view.guarded = True
        self._view.changed()
        self.set_timer(self._guard_seconds, lambda: self._lift_guard(number))

    def _lift_guard(self, number: int) -> None:
        """From now on keys answer, unless they were to be ignored again meanwhile."""
        if number == self._guards and not self._is_hidden:
            self._view.guarded = False
            self._view.changed()

    def take_focus(self) -> None:
        """Let the keys come here."""
        self._view.focus()

    def close(self) -> None:
        """Hide the pane."""
        self._view.question = None
        self.display = False

    @property
    def is_cut(self) -> bool:
        """Whether the pane has room for only a part of what the question is about."""
        return self._view.is_cut

    def set_look(self, styles: Styles, glyphs: Glyphs) -> None:
        """Draw with another theme or another set of signs."""
        self._view.set_look(styles, glyphs)

    def back(self) -> bool:
        """Go back from the line for words to the answers; False when that line is not open."""
        if self._why_choice is None:
            return False
        self._leave_words()
        self._view.focus()
        return True

    def scroll_body(self, pages: int) -> bool:
        """Move in a long body by pages; False when all of it is in view."""
        return self._view.scroll_body(pages * max(self._view.body_room - 1, 1))

    def take(self, choice: Choice) -> None:
        """Give this answer, or ask for its words first."""
        if self.question is None:
            return
        if choice.asks_why:
            self._why_choice = choice
            words = self.query_one("#why", Input)
            words.placeholder = f"{choice.words_hint} enter sends, {shown('stop')} goes back"
            words.display = True
            words.focus()
            return
        self._answer(choice, "")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        choice, words = self._why_choice, event.value.strip()
        if choice and (words or not choice.needs_words):
            self._answer(choice, words)

    def _answer(self, choice: Choice, words: str) -> None:
        question = self.question
        if question is not None:
            self.post_message(self.Answered(question, choice, words))

    def _leave_words(self) -> None:
        self._why_choice = None
        words = self.query_one("#why", Input)
        words.value = ""
        words.display = False


class QuestionView(Rows, can_focus=True):
    """Draws the question and takes the keys that answer it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "choose(-1)", show=False),
        Binding("down", "choose(1)", show=False),
        Binding("enter", "take", show=False),
        *(Binding(str(number), f"number({number})", show=False) for number in range(1, 10)),
    ]

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__(styles, glyphs, id="question-view")
        self.question: Question | None = None
        self.guarded = True
        self.body_room = 0
        self._chosen: int | None = None
        self._body_first = 0
        self._body_rows = 0
        self._choice_at: dict[int, int] = {}

    def open(self, question: Question) -> None:
        """Show this question, its answers dim until the guard is lifted."""
        self.question = question
        self.guarded = True
        self._chosen = question.preselected
        self._body_first = 0
        self.changed(layout=True)

    def on_key(self) -> None:
        """Whoever is still typing means something else."""
        if self.guarded and isinstance(self.parent, QuestionPane):
            self.parent.guard()

    @property
    def is_cut(self) -> bool:
        """Whether there is more of the body than the pane has room for."""
        return self._body_rows > self.body_room

    def scroll_body(self, rows: int) -> bool:
        """Move in the body by a number of rows; False when all of it is in view."""
        if not self.is_cut:
            return False
        most = self._body_rows - self.body_room + 1
        self._body_first = min(max(self._body_first + rows, 0), most)
        self.changed()
        return True

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._page(width, viewport.height))

    def rows(self, width: int, height: int) -> list[Text]:
        bar = Text(self.glyphs.bar, self.look("wait"))
        return [Text.assemble(bar, row) for row in self._page(width, self.app.size.height)]

    def _page(self, width: int, screen_height: int) -> list[Text]:
        """All rows without the bar. Where they have no room on the screen, gaps go first, then parts and the
        reason: the answers are what must be seen."""
        question = self.question
        if question is None:
            return []
        page: list[Text] = []
        most = max(screen_height // 6, 1)
        for roomy, parts, why in ((screen_height >= 20, most, None), (False, most, None), (False, 1, 1)):
            page = self._fitted(question, width, screen_height, roomy=roomy, most_parts=parts, most_why=why)
            if len(page) <= screen_height - _ROWS_ELSEWHERE:
                break
        return page

    def _fitted(
        self,
        question: Question,
        width: int,
        screen_height: int,
        *,
        roomy: bool,
        most_parts: int,
        most_why: int | None,
    ) -> list[Text]:
        """The rows with so many for parts and reason. The body gets up to half the screen, less where that is
        needed."""
        inner = width - _TEXT_EDGE - _RIGHT_MARGIN
        why = wrapped(question.why, inner, self.look("dim"))[:most_why] if question.why else []
        choices = self._choices(question, width)
        gap = [Text()] if roomy else []
        parts = self._parts(question.parts, inner, most_parts)
        fixed = len(why) + len(parts) + len(choices) + (8 if roomy and parts else 7 if roomy else 1)
        body = self._body(
            question, inner, max(min(screen_height // 2, screen_height - fixed - _ROWS_ELSEWHERE), 2)
        )
        page = [*gap, self._title(question, width), *gap]
        for rows in (body, parts, why):
            if rows:
                page += [*(indented(row, _TEXT_EDGE - 1) for row in rows), *gap]
        self._choice_at = {len(page) + place: index for place, (index, _) in enumerate(choices)}
        return [*page, *(row for _, row in choices), *gap]

    def _title(self, question: Question, width: int) -> Text:
        left = Text(f" {self.glyphs.asks} {question.title}", self.look("wait", bold=True))
        return spread(
            left, Text(question.facts, self.look("dim")), width - 1 - _RIGHT_MARGIN, self.glyphs.more
        )

    def _body(self, question: Question, width: int, room: int) -> Sequence[Text]:
        rows = question.body(width, self.look, self.glyphs) if question.body else []
        self._body_rows = len(rows)
        self.body_room = min(len(rows), room)
        if len(rows) <= room:
            return rows
        first = min(self._body_first, len(rows) - room + 1)
        seen = rows[first : first + room - 1]
        hidden = len(rows) - first - len(seen)
        mark = f"{self.glyphs.down} {hidden} more rows" if hidden else f"{self.glyphs.up} {first} rows above"
        whole = self.hint("details", "whole screen")
        scroll = self.key_hint(f"{shown('page_up')}, {shown('page_down')}", "scroll")
        more = self.fact(Text(mark, self.look("soft")), whole, scroll)
        return [*seen, cut_row(more, width, self.glyphs.more)]

    def _parts(self, parts: Sequence[PartDisplay], width: int, room: int) -> list[Text]:
        """A row for each part, those first that lose something where there is not room for all."""
        most = min(_MOST_PARTS, room)
        places = sorted(range(len(parts)), key=lambda place: not parts[place].loses)[:most]
        shown = [parts[place] for place in sorted(places)]
        column = min(max((cell_len(part.text) for part in shown), default=0), width // 2)
        rows = [self._part(part, column, width) for part in shown]
        if left := len(parts) - len(shown):
            rows.append(Text(f"{self.glyphs.more} {counted(left, 'more part')}", self.look("dim")))
        return rows

    def _part(self, part: PartDisplay, column: int, width: int) -> Text:
        mark = Text(f"{self.glyphs.look} ", self.look("wait", bold=True)) if part.loses else Text("  ")
        words = cut_row(Text(part.text, self.look("text", bold=part.loses)), column, self.glyphs.more)
        words.pad_right(column - words.cell_len)
        note = Text(part.note, self.look("text" if part.loses else "dim"))
        return cut_row(Text.assemble(mark, words, GAP, note), width, self.glyphs.more)

    def _choices(self, question: Question, width: int) -> list[tuple[int, Text]]:
        """The rows of the answers, each with the number of its answer."""
        room = width - 1 - _RIGHT_MARGIN
        return [
            (index, row)
            for index, choice in enumerate(question.choices)
            for row in self._choice(choice, index, room)
        ]

    def _choice(self, choice: Choice, index: int, width: int) -> list[Text]:
        """An answer with what it leads to beside it, or below where that has no room beside it."""
        room = width - _ANSWER_EDGE - _ENTER_CELLS
        if Text(choice.label + GAP + choice.consequence).cell_len <= room:
            return [self._answer_row(choice, index, width)]
        label, *more = wrapped(choice.label, room, self.look("text"))
        first = self._answer_row(replace(choice, label=label.plain, consequence=""), index, width)
        look = self.look("dim" if self.guarded else "soft")
        more += wrapped(choice.consequence, room, look) if choice.consequence else []
        return [first, *(indented(row, _ANSWER_EDGE) for row in more)]

    def _answer_row(self, choice: Choice, index: int, width: int) -> Text:
        look = self.look
        chosen = index == self._chosen and not self.guarded
        on = "raised" if chosen else None
        role = "dim" if self.guarded else "text"
        mark = (f"{self.glyphs.prompt} ", look("wait", on=on)) if chosen else ("  ", look("dim"))
        left = Text.assemble(
            mark,
            (f"{index + 1}  ", look(role, on=on, bold=not self.guarded)),
            (choice.label, look(role, on=on, bold=chosen)),
        )
        if choice.consequence:
            left = Text.assemble(
                left, (GAP + choice.consequence, look("dim" if self.guarded else "soft", on=on))
            )
        right = Text("enter ", look("text", on=on, bold=True)) if chosen else Text()
        row = spread(left, right, width - 1, self.glyphs.more)
        if chosen:
            row = Text.assemble(row, style=look("text", on="raised"))
        return indented(row, 1)

    def action_choose(self, step: int) -> None:
        """Move to another answer."""
        if self.guarded or self.question is None:
            return
        last = len(self.question.choices) - 1
        if self._chosen is None:
            self._chosen = 0 if step > 0 else last
        else:
            self._chosen = min(max(self._chosen + step, 0), last)
        self.changed()

    def action_take(self) -> None:
        """Give the chosen answer."""
        if self._chosen is not None:
            self.action_number(self._chosen + 1)

    def action_number(self, number: int) -> None:
        """Give the answer of that number."""
        if self.guarded or self.question is None or number > len(self.question.choices):
            return
        pane = self.parent
        if isinstance(pane, QuestionPane):
            pane.take(self.question.choices[number - 1])

    def on_click(self, event: events.Click) -> None:
        index = self._choice_at.get(event.y)
        if index is not None:
            self.action_number(index + 1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self.scroll_body(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self.scroll_body(-3)
