"""The meaning of keys while a question is open: a sentence is never a yes.

The rules are in docs/decisions/019-typing-at-questions.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from keen_tui.frontends.tui.questions.typed_line import TypedLine

_DIGITS = tuple("123456789")
_NO_LETTERS: Mapping[str, int] = {}


class Answering:
    """The answer that enter gives, and the words that were typed while the question was open.

    Args:
        count: the number of answers.
        preselected: the index of the answer that enter gives before any other key, None for none.
        takes_words: the index of the answer for typed words, None for none.
        letters: letters that choose an answer, as its number does.
    """

    def __init__(
        self,
        count: int,
        preselected: int | None,
        takes_words: int | None,
        letters: Mapping[str, int] = _NO_LETTERS,
    ) -> None:
        self.marked = preselected
        """The index of the marked answer."""
        self.line = TypedLine()
        self.lone_key = ""
        """A digit or letter that was pressed alone and chose. With text after it, it becomes text, except for
        the digit of the answer that takes the text."""
        self.draft = ""
        """The text that the words continue. The composer has it, too."""
        self.is_writing = False
        """Whether the line for words was opened on purpose; then enter sends it."""
        self.are_words_kept = False
        """Whether esc gave the words back to the composer. Whoever did that is no longer in a sentence."""
        self._takes_words = takes_words
        self._count = count
        self._choosing = {digit: int(digit) - 1 for digit in _DIGITS[:count]} | dict(letters)
        self._chosen_by: Literal["", "default", "key"] = "" if preselected is None else "default"
        self._was_read = False

    @property
    def words(self) -> str:
        """The typed, unsent text."""
        return self.lone_key or self.line.text

    @property
    def goes_back(self) -> bool:
        """Whether esc goes back from words to the answers."""
        return self.is_writing or self.line.text != self.draft

    @property
    def sends_words(self) -> bool:
        """Whether the marked answer takes the words of the line."""
        return bool(self.line.text) and self._takes_words is not None and self.marked == self._takes_words

    def answer(self, *, in_a_sentence: bool) -> int | None:
        """The index of the answer that enter gives now. `in_a_sentence`: the user was writing when the
        question appeared, so only an arrow key surely belongs to an answer."""
        if self._chosen_by == "key" or (self._chosen_by == "default" and not in_a_sentence):
            return self.marked
        return None

    def go_on(self, draft: str, cursor: int) -> None:
        """Continue the draft of the composer at `cursor`. No answer is marked until the person types more or
        presses an arrow: a mark elsewhere would contradict the words in the answer that takes them."""
        self._was_read = self.are_words_kept = False
        self.marked, self._chosen_by = None, ""
        self.draft = self.line.text = draft
        self.line.cursor = cursor

    def write(self, text: str, *, in_a_sentence: bool, was_read: bool) -> None:
        """Take typed text. A lone digit or letter chooses an answer; everything else is text, including what
        chose before it. `was_read`: the question has been in view long enough to be read. Words that begin
        then are for the answer that takes words, and enter gives it."""
        if self.chooses(text, in_a_sentence=in_a_sentence):
            self._was_read = was_read
            self._choose(self._choosing[text])
            self.lone_key = text
            return
        self.paste(text, was_read=was_read)

    def paste(self, text: str, *, was_read: bool) -> None:
        """Take a paste, or what was typed before the question can have been seen: it is text, whatever it
        contains."""
        if not self.words:
            self._was_read = was_read
        began = "" if self._opened_words and text[:1].isalpha() else self.lone_key
        self.line.insert(began + text)
        self.lone_key = ""
        self._mark_words()

    def edit(self, key: str) -> bool:
        """Apply an editing key to the words; False if it does nothing."""
        if self.lone_key:
            if key != "backspace":
                return False
            self.lone_key = self._chosen_by = ""
            return True
        if not self.line.edit(key):
            return False
        self._mark_words()
        return True

    def choose(self, step: int, *, in_a_sentence: bool) -> None:
        """Handle an arrow key: choose the marked answer, then the next ones."""
        if self.marked is None:
            self._choose(0 if step > 0 else self._count - 1)
        elif self.answer(in_a_sentence=in_a_sentence) is None:
            self._choose(self.marked)
        else:
            self._choose(min(max(self.marked + step, 0), self._count - 1))

    def open_words(self, index: int) -> None:
        """Open the line for the words that this answer takes."""
        self._choose(index)
        self.is_writing = True

    def take_words(self) -> str:
        """Empty and close the line, and choose nothing. Returns the words, without a key that chose."""
        self.lone_key, self.draft, self.is_writing = "", "", False
        self.marked, self._chosen_by = None, ""
        return self.line.take()

    def chooses(self, key: str, *, in_a_sentence: bool) -> bool:
        """Whether this key alone chooses an answer now, or just did."""
        if self.lone_key and key == self.lone_key:
            return True
        is_alone = not self.words and not self.is_writing
        is_free = self._chosen_by == "key" or not in_a_sentence
        return is_alone and is_free and key in self._choosing

    @property
    def _opened_words(self) -> bool:
        """Whether a digit was pressed alone and chose the answer that takes words: letters after it are those
        words, without the digit."""
        return self.lone_key.isdigit() and self._choosing[self.lone_key] == self._takes_words

    def _mark_words(self) -> None:
        """Mark the answer for the words in the line; choose it too if they began after the question was
        read."""
        if self.is_writing:
            return
        self.marked = self._takes_words
        is_chosen = self._was_read and self.line.text and self._takes_words is not None
        self._chosen_by = "key" if is_chosen else ""

    def _choose(self, index: int) -> None:
        self.marked, self._chosen_by, self.is_writing, self.lone_key = index, "key", False, ""
