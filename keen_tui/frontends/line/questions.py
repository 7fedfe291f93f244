"""Questions in words, with numbered answers."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from itertools import count

from msgspec import Struct

from keen_tui.frontends.line.printer import LinePrinter
from keen_tui.frontends.shared.questions import Choice
from keen_tui.text.nearest import did_you_mean, either

_NUMBER = re.compile(r"\s*(\d{1,4})[.)]?\s*")
_NUMBER_AND_WORDS = re.compile(r"\s*(\d{1,4})\s*:(.*)", re.DOTALL)
"""The colon distinguishes an answer with words from a message that begins with a number."""
_LETTERS = {"y": "yes", "n": "no"}
CANCEL = Choice(id="cancel", label="cancel")
"""The last choice of a list that one may leave without choosing."""


class LineQuestion(Struct, frozen=True, kw_only=True):
    """A question: lines to print, then the answers. With `free` any other text is an answer too; a `hidden`
    answer isn't shown while it is typed. `y` and `n` answer if there is a "yes" and a "no", unless it is
    `numbers_only`. If CANCEL is among the choices, a name answers too, and an empty line cancels."""

    lines: tuple[str, ...]
    choices: tuple[Choice, ...] = ()
    free: str = ""
    hidden: bool = False
    numbers_only: bool = False

    @property
    def prompt(self) -> str:
        """The prompt for the answer."""
        if not self.choices:
            return f"{self.free} (an empty line cancels): "
        return f"Answer, {_ways(self)}: "

    @property
    def is_list(self) -> bool:
        """Whether the choices are a list of names that one may leave without choosing."""
        return CANCEL in self.choices


class LineAnswer(Struct, frozen=True, kw_only=True):
    """The `id` of the choice, "" for free words, and the words."""

    id: str
    words: str = ""


def answered(question: LineQuestion, line: str) -> LineAnswer | str:
    """The answer in a line, or a sentence about why it isn't one."""
    if not line.strip() and (question.is_list or not question.choices):
        return LineAnswer(id=CANCEL.id)
    if bare := _NUMBER.fullmatch(line):
        number, words = int(bare[1]), ""
    elif behind := _NUMBER_AND_WORDS.fullmatch(line):
        number, words = int(behind[1]), behind[2].strip()
    elif number := _number_by_name(question, line):
        words = ""
    elif question.is_list:
        name, _, words = line.partition(":")
        number, words = _number_by_name(question, name), words.strip()
    else:
        number, words = _number_of(question, line), ""
    if 1 <= number <= len(question.choices):
        choice = question.choices[number - 1]
        if choice.needs_words and not words:
            return f"That answer needs text after its number, such as: {number}: use tabs"
        if not words or choice.takes_words:
            return LineAnswer(id=choice.id, words=words)
    if question.free and line.strip():
        return LineAnswer(id="", words=line.strip())
    return f"Please answer {_ways(question)}.{_meant(question, line) or _on_words(question)}"


def _sentence(choice: Choice) -> str:
    words = f"{choice.label}, {choice.consequence}" if choice.consequence else choice.label
    return f"{words}. Add your text after the number and a colon" if choice.needs_words else words


def _number_of(question: LineQuestion, line: str) -> int:
    """The number of the answer for a single letter, 0 for none."""
    meant = "" if question.numbers_only else _LETTERS.get(line.strip().lower(), "")
    return next((number for number, each in enumerate(question.choices, 1) if each.id == meant), 0)


def _number_by_name(question: LineQuestion, name: str) -> int:
    """The number of the only choice that this name fits, 0 for none."""
    found = _fitting(question, name)
    return found[0] if len(found) == 1 else 0


def _fitting(question: LineQuestion, name: str) -> list[int]:
    """In a list, the numbers of the choices with this id or label. If there are none, and free words don't
    answer, those that begin with it."""
    wanted = name.strip().casefold()
    if not question.is_list:
        return []
    named = [(each.id.casefold(), each.label.casefold()) for each in question.choices]
    found = [number for number, names in enumerate(named, 1) if wanted in names]
    if not found and wanted and not question.free:
        found = [
            number for number, names in enumerate(named, 1) if any(each.startswith(wanted) for each in names)
        ]
    return found


def _meant(question: LineQuestion, line: str) -> str:
    """The names in a list that this line may mean, as a question; "" for none."""
    name = line.partition(":")[0].strip()
    labels = [each.label for each in question.choices]
    if found := _fitting(question, name):
        return f" Did you mean {either([labels[number - 1] for number in found[:3]])}?"
    return did_you_mean(name, labels, 3) if question.is_list else ""


def _ways(question: LineQuestion) -> str:
    """How this question can be answered."""
    ways = [_numbers(question)]
    if question.free or question.is_list:
        ways.append(question.free or "a name")
    if question.is_list:
        ways.append("an empty line to cancel")
    return either(ways)


def _numbers(question: LineQuestion) -> str:
    count = len(question.choices)
    return f"1 to {count}" if count > 1 else "1"


def _on_words(question: LineQuestion) -> str:
    """How to add words, if an answer takes some."""
    takes = (number for number, each in enumerate(question.choices, 1) if each.takes_words)
    number = next(takes, 0)
    return f" To add text to answer {number}, write {number}: and the text." if number else ""


class _Open(Struct):
    number: int
    question: LineQuestion
    answer: asyncio.Future[LineAnswer | None]


class OpenQuestions:
    """The open questions. The newest one is asked; after its answer the one before is printed again.

    Args:
        changed: called when another question, or none, is the current one.
    """

    def __init__(self, printer: LinePrinter, changed: Callable[[], None]) -> None:
        self._printer = printer
        self._changed = changed
        self._open: list[_Open] = []
        self._numbers = count(1)

    @property
    def number(self) -> int:
        """The number of the current question, 0 for none."""
        return self._newest.number if self._newest else 0

    @property
    def asked(self) -> LineQuestion | None:
        """The current question; None if there is none, or if its answer has just been given."""
        return self._newest.question if self._newest else None

    @property
    def _newest(self) -> _Open | None:
        return next((each for each in reversed(self._open) if not each.answer.done()), None)

    async def ask(self, question: LineQuestion) -> LineAnswer | None:
        """Ask and wait for the answer; None if the question was withdrawn."""
        answer: asyncio.Future[LineAnswer | None] = asyncio.get_running_loop().create_future()
        asked = _Open(next(self._numbers), question, answer)
        self._open.append(asked)
        self._tell(question)
        self._changed()
        try:
            return await answer
        finally:
            was_asked = self._open[-1] is asked
            self._open.remove(asked)
            if was_asked and self.asked:
                self._tell(self.asked)
            self._changed()

    def take(self, line: str) -> bool:
        """Answer the current question with a line, or withdraw it if the line cancels. False if the line is
        no answer."""
        if self._newest is None:
            return False
        given = answered(self._newest.question, line)
        if isinstance(given, str):
            self._printer.say(given)
            return False
        self._newest.answer.set_result(None if given.id == CANCEL.id else given)
        return True

    def withdraw(self) -> None:
        """Withdraw the current question."""
        if self._newest:
            self._newest.answer.set_result(None)

    def _tell(self, question: LineQuestion) -> None:
        choices = (f"{number}: {_sentence(each)}." for number, each in enumerate(question.choices, 1))
        self._printer.read((*question.lines, *choices))
