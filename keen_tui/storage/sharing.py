"""Equal texts of a turn as one: what a tool told the model is often what it showed, and the end of a turn
tells its reply again. JSON makes each of them anew: in a long session a third of its memory."""

from __future__ import annotations

from typing import Any


class SharedTexts:
    """Takes the records of a session in their order."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def share(self, record: dict[str, Any]) -> None:
        """Put texts that stood in this turn before in the place of their equals."""
        if record.get("type") == "turn_started":
            self._known.clear()
        for holder in (record, record.get("display"), record.get("arguments")):
            if isinstance(holder, dict):
                for name, value in holder.items():
                    if type(value) is str:
                        holder[name] = self._known.setdefault(value, value)
