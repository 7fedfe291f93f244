"""The base class of all kinds of facts. Whatever reads TurnMemory uses this class, and knows no kind."""

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
    """The base class of the kinds. In JSON, `kind` names the class.

    `FIELD` is the field of TurnMemory that holds the facts of the kind: only their `VALUE`, if that names one
    of their fields, and true or false if they have none. `ONCE_BY` names a field in which no two facts are
    equal: the newest one counts. Requests contain `LINE`, with its values quoted, unless `IS_CARRIED` is
    false. People read `TEXT` and `CAME_TO` after `SIGN` in lists, and after `LABEL` in sentences, which leave
    out kinds without a label. `IS_ENTRY`: the facts are counted, and the user can remove each of them.
    `MAY_CHANGE_FILES`: files of the workspace may be different now.
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
    MAY_CHANGE_FILES: ClassVar[bool] = False

    @property
    def line(self) -> str:
        """The text of the fact in a request."""
        fields = asdict(self).items()
        return self.LINE.format(**{name: quoted(v) if isinstance(v, str) else v for name, v in fields})

    @property
    def row(self) -> FactRow:
        """The row of the fact for a person."""
        return FactRow(self.TEXT.format(**asdict(self)), self.CAME_TO)

    @property
    def remembered(self) -> Remembered:
        """The fact in the form in which TurnMemory holds it."""
        return self

    @property
    def reported(self) -> Iterable[Any]:
        """The facts that tools reported for it."""
        return (self,)

    @classmethod
    def merged(cls, facts: Iterable[Self]) -> tuple[Self, ...]:
        """Returns the facts as TurnMemory holds them, in first-seen order."""
        if not cls.ONCE_BY:
            return tuple(facts)
        return tuple({getattr(fact, cls.ONCE_BY): fact for fact in facts}.values())

    @classmethod
    def read_from(cls, memory: Any) -> tuple[Self, ...]:
        """Returns the facts of this kind in a TurnMemory."""
        found = getattr(memory, cls.FIELD)
        if not cls.__struct_fields__:
            return (cls(),) if found else ()
        return tuple(cls(**{cls.VALUE: value}) for value in found) if cls.VALUE else found

    @classmethod
    def fields(cls, facts: tuple[Self, ...]) -> Mapping[str, Any]:
        """Returns the fields of a TurnMemory with these facts."""
        values = tuple(getattr(fact, cls.VALUE) for fact in facts) if cls.VALUE else facts
        return {cls.FIELD: values if cls.__struct_fields__ else bool(facts)}

    @classmethod
    def lines(cls, facts: Sequence[Self]) -> Iterable[str]:
        """Returns the lines of all of them in a request."""
        return (fact.line for fact in facts)

    @classmethod
    def rows(cls, facts: Sequence[Self]) -> Iterable[FactRow]:
        """Returns the rows of all of them for a person."""
        return (fact.row for fact in facts)

    @classmethod
    def asides(cls, facts: Sequence[Self]) -> Iterable[str]:
        """Returns what a narrow column shows instead of the rows, without a sign."""
        return ()

    @classmethod
    def count(cls, facts: Sequence[Self]) -> str:
        """Returns their number, as it follows their sign."""
        return str(len(facts))


def quoted(text: str) -> str:
    """Returns the text as a request names it: as JSON if it could be read as more than one entry."""
    return json.dumps(text) if "," in text or breaks_line(text) else text


def breaks_line(text: str) -> bool:
    """True for control characters and other line breaks that Unicode knows."""
    return any(unicodedata.category(char) in ("Cc", "Zl", "Zp", "Cs") for char in text)
