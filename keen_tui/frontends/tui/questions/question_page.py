"""The layout of a question: the answers must be visible, so everything else makes room for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from keen_tui.domain.display import PartDisplay
from keen_tui.frontends.shared.questions import Choice
from keen_tui.frontends.tui.keys.keymap import shown
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.questions.answering import Answering
from keen_tui.frontends.tui.questions.question import Question
from keen_tui.frontends.tui.questions.typed_line import in_rows
from keen_tui.frontends.tui.widgets.row_widget import GAP, cut_row, indented, spread, wrapped
from keen_tui.text.units import counted

TEXT_EDGE = 4
RIGHT_MARGIN = 2
_MOST_PARTS = 6
_ANSWER_EDGE = 6
"""The column of an answer, after its mark and number."""
_CHIP_CELLS = 9
"""Cells of the key that gives an answer, at the end of its row."""
_MOST_WORDS_ROWS = 3
_GAPS_FROM = 20
"""Rows of the screen from which on there are empty rows between the parts of a question."""
_ALL = 1_000


class QuestionStyle(Struct, frozen=True):
    """The style of a question. While it is `guarded` its answers are dim; `nudged`: enter was pressed
    although nothing is chosen."""

    styles: Styles
    glyphs: Glyphs
    guarded: bool
    in_a_sentence: bool
    nudged: bool
    has_cursor: bool


class QuestionPage(Struct, frozen=True):
    """The rows without the bar at their left; the answer of each row; the number of rows of the body, the
    number in view, and the first of these. `hides_answers`: not all answers are in view."""

    rows: list[Text]
    choice_at: dict[int, int]
    body_rows: int
    body_room: int
    body_first: int
    hides_answers: bool = False


class _Fold(Struct, frozen=True, kw_only=True):
    """A way to fold a question: how many rows its parts may take, and which parts are left out."""

    gaps: bool = False
    parts: int = _ALL
    why: int = _ALL
    repeats: bool = True
    hint: bool = True
    short: bool = False
    least_body: int = 2


def laid_out(
    question: Question,
    answering: Answering,
    look: QuestionStyle,
    *,
    width: int,
    room: int,
    screen_height: int,
    first: int,
) -> QuestionPage:
    """The question in `room` rows of `width` cells. `first` is the row of the body that should be on top."""
    page = QuestionPage([], {}, 0, 0, 0)
    for fold in _folds(screen_height):
        page = _Layout(question, answering, look, width, room, fold).page(first)
        is_cramped = fold.gaps and page.body_room < page.body_rows
        if len(page.rows) <= room and not is_cramped and not page.hides_answers:
            return page
    return page


def _folds(screen_height: int) -> Iterator[_Fold]:
    """Yields the ways to fold the question, the roomiest first."""
    most = max(screen_height // 6, 1)
    if screen_height >= _GAPS_FROM:
        yield _Fold(gaps=True, parts=most)
    yield _Fold(parts=most)
    yield _Fold(parts=most, repeats=False)
    yield _Fold(parts=2, why=2, repeats=False)
    yield _Fold(parts=1, why=1, repeats=False)
    yield _Fold(parts=1, why=1, repeats=False, short=True)
    yield _Fold(parts=1, why=0, repeats=False, short=True)
    yield _Fold(parts=1, why=0, repeats=False, short=True, hint=False)
    yield _Fold(parts=1, why=0, repeats=False, short=True, hint=False, least_body=1)
    yield _Fold(parts=0, why=0, repeats=False, short=True, hint=False, least_body=1)


class _Layout:
    """One question at one size with one fold."""

    def __init__(
        self,
        question: Question,
        answering: Answering,
        look: QuestionStyle,
        width: int,
        room: int,
        fold: _Fold,
    ) -> None:
        self._question = question
        self._answering = answering
        self._state = look
        self._look = look.styles
        self._glyphs = look.glyphs
        self._width = width
        self._inner = width - TEXT_EDGE - RIGHT_MARGIN
        self._room = room
        self._fold = fold

    def page(self, first: int) -> QuestionPage:
        """The rows, with the body beginning at its row `first` if possible."""
        gap = [Text()] if self._fold.gaps else []
        above = [group for group in (self._parts(), self._reason()) if group]
        choices = self._answers()
        fixed = sum(map(len, above)) + len(choices) + 1 + len(gap) * (len(above) + 4)
        body, size, room, begin = self._body(self._body_room(fixed), first)
        page = [*gap, self._title(), *gap]
        for group in (body, *above):
            if group:
                page += [*(indented(row, TEXT_EDGE - 1) for row in group), *gap]
        seen = self._in_view(choices, self._room - len(page) - len(gap))
        choice_at = {len(page) + place: index for place, (index, _) in enumerate(seen) if index >= 0}
        rows = [*page, *(row for _, row in seen), *gap]
        return QuestionPage(rows, choice_at, size, room, begin, hides_answers=seen is not choices)

    def _title(self) -> Text:
        left = Text(f" {self._glyphs.asks} {self._question.title}", self._look("wait", bold=True))
        facts = Text(self._question.facts, self._look("dim"))
        room = self._width - 1 - RIGHT_MARGIN
        if left.cell_len + facts.cell_len >= room:
            facts = Text()
        return spread(left, facts, room, self._glyphs.more)

    def _body_room(self, fixed: int) -> int:
        return max(min(self._room // 2 + 1, self._room - fixed), self._fold.least_body)

    def _body(self, room: int, first: int) -> tuple[Sequence[Text], int, int, int]:
        """The rows in view, and of the whole body: how many rows, how many in view, the first of these."""
        draw = self._question.body
        rows = draw(self._inner, self._look, self._glyphs) if draw else []
        size = len(rows)
        if size <= room:
            return rows, size, size, 0
        if room < 2:
            return [self._cut_off(rows[0])], size, 1, 0
        first = min(first, size - room + 1)
        seen = rows[first : first + room - 1]
        return [*seen, self._scroll_hint(size, first, len(seen))], size, room, first

    def _cut_off(self, row: Text) -> Text:
        """A row with a sign that there is more below it."""
        more = self._glyphs.more
        return Text.assemble(cut_row(row, self._inner - len(more), ""), (more, row.style))

    def _scroll_hint(self, size: int, first: int, seen: int) -> Text:
        hidden = size - first - seen
        mark = (
            f"{self._glyphs.down} {counted(hidden, 'more row')}"
            if hidden
            else f"{self._glyphs.up} {counted(first, 'row')} above"
        )
        facts = [Text(mark, self._look("soft"))]
        scroll = f"{shown('page_up')}, {shown('page_down')}"
        for key, verb in ((shown("details"), "whole screen"), (scroll, "scroll")):
            facts.append(Text.assemble((key, self._look("text", bold=True)), " ", (verb, self._look("dim"))))
        return cut_row(Text(GAP).join(facts), self._inner, self._glyphs.more)

    def _parts(self) -> list[Text]:
        """The parts; if there isn't room for all, the risky ones first."""
        parts = self._question.parts
        most = min(_MOST_PARTS, self._fold.parts)
        places = sorted(range(len(parts)), key=lambda place: not parts[place].is_risky)[:most]
        seen = [parts[place] for place in sorted(places)]
        column = min(max((cell_len(part.text) for part in seen), default=0), self._inner // 2)
        rows = [row for part in seen for row in self._part(part, column)]
        if (left := len(parts) - len(seen)) and self._fold.parts > 1:
            rows.append(Text(f"{self._glyphs.more} {counted(left, 'more part')}", self._look("dim")))
        return rows

    def _part(self, part: PartDisplay, column: int) -> list[Text]:
        """A part with its note beside it, on several rows if there is room; else below it."""
        look, more_sign = self._look, self._glyphs.more
        mark = Text(f"{self._glyphs.look} ", look("wait", bold=True)) if part.is_risky else Text("  ")
        text = Text(part.text, look("text", bold=part.is_risky))
        note_look = look("text" if part.is_risky else "dim")
        edge = mark.cell_len + column + len(GAP)
        if not self._fold.repeats and cell_len(part.note) > self._inner - edge:
            edge = mark.cell_len
            rows = wrapped(part.note, self._inner - edge, note_look)
            return [
                Text.assemble(mark, cut_row(text, self._inner - edge, more_sign)),
                *(indented(row, edge) for row in rows),
            ]
        words = cut_row(text, column, more_sign)
        words.pad_right(column - words.cell_len)
        first, *more = wrapped(part.note, self._inner - edge, note_look)
        return [Text.assemble(mark, words, GAP, first), *(indented(row, edge) for row in more)]

    def _reason(self) -> list[Text]:
        """Returns the rows with the reason for asking, the keys that answer, and other remarks."""
        question, fold = self._question, self._fold
        tells = question.why and not (question.repeats_parts and not fold.repeats and fold.parts)
        rows = self._limited(question.why, fold.why) if tells else []
        answering, is_chosen = self._answering, self._is_chosen
        missing = "enter" if is_chosen else f"{self._glyphs.down}, then enter"
        choice = question.choices[answering.marked or 0]
        if answering.sends_words or (answering.is_writing and not choice.needs_words):
            does = "decline with this reason" if choice.id == "no" else "send these words"
            rows.append(self._pressing(missing, f"Press {{}} to {does}."))
        elif self._state.nudged:
            rows.append(self._pressing(self._arrows, "Nothing is chosen yet: press {}."))
        elif answering.words and answering.marked is not None:
            rows.append(self._pressing(missing, "Press {} to give the marked answer."))
        has_words = answering.words or answering.is_writing
        is_told = self._state.nudged or (has_words and answering.marked is not None)
        kept = "Your words are kept in the composer." if answering.are_words_kept else ""
        choosing = "" if is_told else self._how_to_choose()
        hint = " ".join(filter(None, (kept, choosing, question.warning, self._escape())))
        if hint and fold.hint:
            rows += self._limited(hint, fold.why or 1)
        return rows

    @property
    def _arrows(self) -> str:
        return f"{self._glyphs.up} or {self._glyphs.down}, then enter"

    def _pressing(self, keys: str, sentence: str) -> Text:
        """The keys that are missing for an answer, in this sentence if there is room for it."""
        text = sentence.format(keys)
        if len(text) > self._inner:
            text = f"Press {keys}."
        return cut_row(Text(text, self._look("wait", bold=True)), self._inner, self._glyphs.more)

    def _how_to_choose(self) -> str:
        """The keys that choose, if the question appeared on its own and no answer is marked; else ""."""
        if not self._question.interrupts or self._answering.marked is not None:
            return ""
        return f"Press {self._arrows}." if self._state.in_a_sentence else "Press a number, then enter."

    def _escape(self) -> str:
        """The effect of esc in words, if a question of a turn is open or something was typed; else ""."""
        answering, esc = self._answering, shown("stop")
        if answering.goes_back:
            keeps = " and keeps your words" if answering.line.text else ""
            return f"{esc} goes back to the answers{keeps}"
        return f"{esc} declines, {esc} again stops the turn" if self._question.interrupts else ""

    def _limited(self, text: str, most: int) -> list[Text]:
        """Text in at most so many rows, with a sign if something is left out."""
        rows = wrapped(text, self._inner, self._look("dim"))
        if most and len(rows) > most:
            rows[most - 1] = self._cut_off(rows[most - 1])
        return [cut_row(row, self._inner, self._glyphs.more) for row in rows[:most]]

    def _answers(self) -> list[tuple[int, Text]]:
        """The rows of the answers and of the typed text, each with the index of its answer, -1 for none."""
        rows: list[tuple[int, Text]] = []
        for index, choice in enumerate(self._question.choices):
            rows += [(index, row) for row in self._choice(choice, index)]
        if self._question.takes_words is None and self._answering.line.text:
            rows.append((-1, indented(Text("kept as your draft:", self._look("dim")), _ANSWER_EDGE)))
            rows += [(-1, row) for row in self._words("")]
        return rows

    def _in_view(self, rows: list[tuple[int, Text]], room: int) -> list[tuple[int, Text]]:
        """As many rows as there is room for, with a sign if there are more: from the beginning of the marked
        answer, or up to the end of the text typed there."""
        room = max(room, 2)
        if len(rows) <= room:
            return rows
        marked = self._answering.marked or 0
        places = [place for place, (index, _) in enumerate(rows) if index == marked] or [0]
        first = min(max(places[-1] - room + 2, 0), len(rows) - room + 1)
        if not self._answering.line.text:
            first = min(first, places[0])
        seen = rows[first : first + room - 1]
        sign = self._sign_of_more(rows[:first], rows[first + len(seen) :], marked)
        if first + len(seen) <= places[-1]:
            seen[-1] = (marked, Text.assemble(seen[-1][1], self._glyphs.more))
        return [*seen, (-1, indented(Text(sign, self._look("soft")), TEXT_EDGE - 1))]

    def _sign_of_more(self, above: list[tuple[int, Text]], below: list[tuple[int, Text]], marked: int) -> str:
        """How many answers are out of view, in either direction."""
        before, behind = ({index for index, _ in rows} for rows in (above, below))
        others = behind - {marked}
        down = f"{self._glyphs.down} {counted(len(others), 'more answer') if others else 'more'}"
        if not behind:
            return f"{self._glyphs.up} {counted(len(before), 'answer')} above"
        return f"{down}{GAP}{self._glyphs.up} {len(before)} above" if before else down

    def _choice(self, choice: Choice, index: int) -> list[Text]:
        """An answer with its consequence beside it, or below if there isn't enough room."""
        answering = self._answering
        is_open = index == answering.marked and answering.is_writing
        if (index == self._question.takes_words and answering.line.text) or is_open:
            return [self._row(choice.label, "", index), *self._words(choice.words_hint)]
        beside = _consequence(choice)
        room = self._width - 1 - RIGHT_MARGIN - _ANSWER_EDGE - _CHIP_CELLS
        if Text(choice.label + GAP + beside).cell_len <= room:
            return [self._row(choice.label, beside, index)]
        if self._fold.short and index != answering.marked:
            sign = self._glyphs.more if beside and not choice.takes_words else ""
            return [self._row(f"{choice.label}{sign}", beside if choice.takes_words else "", index)]
        label, *more = wrapped(choice.label, room, self._look("text"))
        look = self._look("dim" if self._state.guarded else "soft")
        more += wrapped(beside, room, look) if beside else []
        return [self._row(label.plain, "", index), *(indented(row, _ANSWER_EDGE) for row in more)]

    def _row(self, label: str, beside: str, index: int) -> Text:
        look, state = self._look, self._state
        marked = index == self._answering.marked and not state.guarded
        on = "raised" if marked else None
        role = "dim" if state.guarded else "text"
        mark = (f"{self._glyphs.prompt} ", look("wait", on=on)) if marked else ("  ", look("dim"))
        left = Text.assemble(
            mark,
            (f"{index + 1}  ", look(role, on=on, bold=not state.guarded)),
            (label, look(role, on=on, bold=marked)),
        )
        if beside:
            left = Text.assemble(left, (GAP + beside, look("dim" if state.guarded else "soft", on=on)))
        right = Text(f"{self._chip()} ", look("text", on=on, bold=True)) if marked else Text()
        row = spread(left, right, self._width - 2 - RIGHT_MARGIN, self._glyphs.more)
        return indented(Text.assemble(row, style=look("text", on="raised")) if marked else row, 1)

    def _chip(self) -> str:
        """The keys that give the marked answer."""
        return "enter" if self._is_chosen else f"{self._glyphs.down} enter"

    @property
    def _is_chosen(self) -> bool:
        """Whether enter gives the marked answer now."""
        return self._answering.answer(in_a_sentence=self._state.in_a_sentence) is not None

    def _words(self, hint: str) -> list[Text]:
        """The typed text in its own rows, with the cursor in view."""
        line = self._answering.line
        look = self._look("text")
        if not line.text:
            cursor = Text(" ", look + Style(reverse=self._state.has_cursor))
            return [
                cut_row(
                    Text.assemble(" " * _ANSWER_EDGE, cursor, (hint, self._look("dim"))),
                    self._width - 1 - RIGHT_MARGIN,
                    self._glyphs.more,
                )
            ]
        rows, cursor_row = in_rows(line.text, line.cursor, self._inner - 2)
        first = min(max(cursor_row - _MOST_WORDS_ROWS + 1, 0), max(len(rows) - _MOST_WORDS_ROWS, 0))
        drawn = []
        for number in range(first, min(first + _MOST_WORDS_ROWS, len(rows))):
            text, cursor_at = rows[number]
            row = Text(text, look)
            if cursor_at is not None and self._state.has_cursor:
                row.stylize(Style(reverse=True), cursor_at, cursor_at + 1)
            drawn.append(indented(row, _ANSWER_EDGE))
        return drawn


def _consequence(choice: Choice) -> str:
    """The consequence of an answer; if it takes words, a hint that typing is enough."""
    if not choice.takes_words:
        return choice.consequence
    return f"{choice.consequence}: just type" if choice.consequence else "just type"
