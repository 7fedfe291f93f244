"""Skills in use, each once."""

from __future__ import annotations

from keen_tui.domain.facts.remembered import FactRow, Remembered


class SkillUsed(Remembered, frozen=True, kw_only=True):
    """The instructions of a skill were given to the model. `bytes` are those of its text."""

    FIELD = "skills"
    ONCE_BY = "name"
    LINE = "Skill in use: {name}"
    SIGN = "◆"
    LABEL = "skill in use: "

    name: str
    bytes: int

    @property
    def row(self) -> FactRow:
        return FactRow(f"skill {self.name}", bytes=self.bytes, phrase=self.name)
