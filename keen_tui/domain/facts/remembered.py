"""What a kind of fact says of itself. Whatever reads TurnMemory asks the kinds, and doesn't know one."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

from msgspec import Struct
from msgspec.structs import asdict


class FactRow(Struct, frozen=True):
    """A row about a fact for a person, not yet safe to draw: `text`, and at its end `came_to`, or `bytes` as
    a size. A sentence says `phrase`, if there is one, for `text`."""

    text: str
    came_to: str = ""
    bytes: int | None = None
    phrase: str | None = None
    failed: bool = False
    is_path: bool = False


class Remembered(Struct, frozen=True, kw_only=True, tag_field="kind", tag=True):
    """A fact; each kind is a subclass, which `kind` names in JSON.

    `FIELD` is where TurnMemory has the facts of a kind; if `VALUE` names a field of theirs, only that.
    `ONCE_BY` is what only one of them may have: the newest one counts. `LINE` is for requests, which say it
    with safe values unless `IS_CARRIED` is false. A person reads `TEXT`, and what it `CAME_TO`, behind `SIGN`
    in lists, `LABEL` in sentences; with "" they are left out there. `IS_ENTRY`: a person can forget
    one, and they are counted.
    """

    FIELD: ClassVar[str]
    VALUE: ClassVar[str] = ""
    ONCE_BY: ClassVar[str] = ""
    LINE: ClassVar[str]
    TEXT: ClassVar[str]
    CAME_TO: ClassVar[str] = ""
    SIGN: ClassVar[str]
    LABEL: ClassVar[str]
    IS_CARRIED: ClassVar[bool] = True
    IS_ENTRY: ClassVar[bool] = True

    @property
    def line(self) -> str:
        """What a request says of it."""
        fields = asdict(self).items()
        return self.LINE.format(**{name: quoted(v) if isinstance(v, str) else v for name, v in fields})

    @property
    def row(self) -> FactRow:
        """What a person reads of it."""
        return FactRow(self.TEXT.format(**asdict(self)), self.CAME_TO)

    @property
    def remembered(self) -> Remembered:
        """The fact as TurnMemory holds it."""
        return self

    @property
    def reported(self) -> Iterable[Any]:
        """The facts that tools reported, as which it can be reported again."""
        return (self,)

    @classmethod
    def merged(cls, facts: Iterable[Self]) -> tuple[Self, ...]:
        """Facts of this kind as TurnMemory holds them, in first-seen order."""
        if not cls.ONCE_BY:
            return tuple(facts)
        return tuple({getattr(fact, cls.ONCE_BY): fact for fact in facts}.values())

    @classmethod
    def read_from(cls, memory: Any) -> tuple[Self, ...]:
        """The facts of this kind in a TurnMemory."""
        found: tuple[Any, ...] = getattr(memory, cls.FIELD)
        return tuple(cls(**{cls.VALUE: value}) for value in found) if cls.VALUE else found

    @classmethod
    def fields(cls, facts: tuple[Self, ...]) -> Mapping[str, Any]:
        """The fields of a TurnMemory with these facts."""
        return {cls.FIELD: tuple(getattr(fact, cls.VALUE) for fact in facts) if cls.VALUE else facts}

    @classmethod
    def lines(cls, facts: Sequence[Self]) -> Iterable[str]:
        """What a request says of all of them."""
        return (fact.line for fact in facts)

    @classmethod
    def rows(cls, facts: Sequence[Self]) -> Iterable[FactRow]:
        """What a person reads of all of them."""
        return (fact.row for fact in facts)

    @classmethod
    def asides(cls, facts: Sequence[Self]) -> Iterable[str]:
        """What a narrow column says in the place of the rows, without a sign."""
        return ()

    @classmethod
    def count(cls, facts: Sequence[Self]) -> str:
        """How many they are, behind their sign."""
        return str(len(facts))


def quoted(text: str) -> str:
    """The text as a request names it: as JSON if it could be read as more than one entry."""
    return json.dumps(text) if "," in text or breaks_line(text) else text


def breaks_line(text: str) -> bool:
    """True for control characters and other line breaks that Unicode knows."""
    return any(unicodedata.category(char) in ("Cc", "Zl", "Zp", "Cs") for char in text)
