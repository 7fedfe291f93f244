"""The meaning of keys while a question is open: typed text is never an answer.

The rules are in docs/decisions/019-typing-at-questions.md.
"""

from __future__ import annotations

from typing import Literal

from keen_tui.frontends.tui.questions.typed_line import TypedLine

_DIGITS = tuple("123456789")


class Answering:
    """The answer that enter gives, and the words that were typed while the question was open.

    Args:
        count: the number of answers.
        preselected: the index of the answer that enter gives before any other key, None for none.
        takes_words: the index of the answer for typed words, None for none.
    """

    def __init__(self, count: int, preselected: int | None, takes_words: int | None) -> None:
        self.marked = preselected
        """The index of the marked answer."""
        self.line = TypedLine()
        self.digit = ""
        """A digit that was pressed alone; with more text after it, it becomes text."""
        self.is_writing = False
        """Whether the line for words was opened on purpose; then enter sends it."""
        self._count = count
        self._takes_words = takes_words
        self._chosen_by: Literal["", "default", "key"] = "" if preselected is None else "default"

    @property
    def words(self) -> str:
        """The typed, unsent text."""
        return self.digit or self.line.text

    def answer(self, *, in_a_sentence: bool) -> int | None:
        """The index of the answer that enter gives now. `in_a_sentence`: the user was writing when the
        question appeared, so only an arrow key surely belongs to an answer."""
        if self._chosen_by == "key" or (self._chosen_by == "default" and not in_a_sentence):
            return self.marked
        return None

    def write(self, text: str, *, in_a_sentence: bool) -> None:
        """Take typed text. A lone digit chooses an answer; everything else is text, including a digit before
        it."""
        if self._is_lone_digit(text, in_a_sentence=in_a_sentence):
            self.digit = text
            self._choose(int(text) - 1)
            return
        self._write(self.digit + text)
        self.digit = ""

    def paste(self, text: str) -> None:
        """Take a paste, which is always text."""
        self._write(self.digit + text)
        self.digit = ""

    def edit(self, key: str) -> bool:
        """Apply an editing key to the words; False if it does nothing."""
        if self.digit and key == "backspace":
            self.digit = ""
            self._forget_choice()
            return True
        if not self.line.edit(key):
            return False
        if not self.is_writing:
            self._forget_choice()
        return True

    def choose(self, step: int) -> None:
        """Handle an arrow key: choose the marked answer, then the next ones."""
        self.digit = ""
        if self.marked is None:
            self._choose(0 if step > 0 else self._count - 1)
        elif self._chosen_by or self.is_writing:
            self._choose(min(max(self.marked + step, 0), self._count - 1))
        else:
            self._choose(self.marked)

    def open_words(self, index: int) -> None:
        """Open the line for the words that this answer takes."""
        self.digit = ""
        self._choose(index)
        self.is_writing = True

    def take_words(self) -> str:
        """Empty and close the line, and choose nothing. Returns the words."""
        words = self.digit or self.line.take()
        self.digit, self.is_writing = "", False
        self._forget_choice()
        return words

    def _is_lone_digit(self, text: str, *, in_a_sentence: bool) -> bool:
        is_alone = not self.words and not self.is_writing
        is_free = self._chosen_by == "key" or not in_a_sentence
        return is_alone and is_free and text in _DIGITS and int(text) <= self._count

    def _write(self, text: str) -> None:
        self.line.insert(text)
        if not self.is_writing:
            self._forget_choice()
            self.marked = self._takes_words

    def _choose(self, index: int) -> None:
        self.marked, self._chosen_by, self.is_writing = index, "key", False

    def _forget_choice(self) -> None:
        self._chosen_by = ""
