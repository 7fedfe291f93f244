"""Shares equal texts of a turn. A tool's text for the model often equals its display, and the end of a turn
repeats the reply. JSON decodes each of them separately, which costs a third of the memory of a long
session."""

from __future__ import annotations

from typing import Any


class SharedTexts:
    """Takes the records of a session in order."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def share(self, record: dict[str, Any]) -> None:
        """Replace texts by equal ones that came earlier in this turn."""
        if record.get("type") == "turn_started":
            self._known.clear()
        for holder in (record, record.get("display"), record.get("arguments")):
            if isinstance(holder, dict):
                for name, value in holder.items():
                    if type(value) is str:
                        holder[name] = self._known.setdefault(value, value)
