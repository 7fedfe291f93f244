"""A question as a value for the question pane."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from rich.text import Text

from keen_tui.domain.display import PartDisplay
from keen_tui.frontends.shared.questions import Choice
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles


class Question(Struct, frozen=True, kw_only=True):
    """A question. `body` draws its subject in a number of cells; a long body scrolls.

    `parts` are listed below it. `facts` are right of the title. `why` is the reason for asking, in sentences;
    `repeats_parts`: the parts say the same, so the reason is left out first. With `interrupts` the
    question appears on its own and not because of a key, perhaps in the middle of a sentence. `preselected`
    is the index of the answer that enter gives, or None if enter alone gives none.
    """

    title: str
    choices: tuple[Choice, ...]
    facts: str = ""
    body: Callable[[int, Styles, Glyphs], Sequence[Text]] | None = None
    parts: tuple[PartDisplay, ...] = ()
    why: str = ""
    repeats_parts: bool = False
    warning: str = ""
    preselected: int | None = 0
    interrupts: bool = False

    @property
    def letters(self) -> Mapping[str, int]:
        """The letters that choose an answer: `y` for a plain yes, `n` for a plain no."""
        ids = [choice.id for choice in self.choices]
        return {id[0]: ids.index(id) for id in ("yes", "no") if id in ids}

    @property
    def takes_words(self) -> int | None:
        """The index of the answer for typed words, None if there is none."""
        places = (place for place, choice in enumerate(self.choices) if choice.takes_words)
        return next(places, None)


class GivenAnswer(Struct, frozen=True, kw_only=True):
    """The id of the chosen answer, and the words that were typed with it."""

    choice: str
    words: str = ""
