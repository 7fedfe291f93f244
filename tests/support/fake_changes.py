"""Given changes of turns for tests of the screen, with a record of the calls."""

from __future__ import annotations

from msgspec.structs import replace

from keen_tui.domain.errors import KeenError, SessionRefused
from keen_tui.domain.reports import Changes


class FakeChanges:
    """Every call becomes a row in `calls`. `turns` are the changes of turns by number; 0 is the session.

    `refusal` is raised by every call.
    """

    def __init__(self, turns: dict[int, Changes] | None = None) -> None:
        self.turns = turns or {}
        self.refusal = ""
        self.calls: list[tuple[object, ...]] = []

    async def changes(self, turn: int) -> Changes:
        self._note("changes", turn)
        return self._found(turn)

    async def undo(self, turn: int) -> str:
        self._note("undo", turn)
        found = self._found(turn)
        if found.undone:
            raise SessionRefused(f"The changes of turn {found.turn} are already undone.")
        if not (found.turn and found.files):
            raise SessionRefused(f"Turn {found.turn} changed no files that can be restored.")
        self.turns[found.turn] = replace(found, undone=True)
        return ""

    def _found(self, turn: int) -> Changes:
        if turn >= 0:
            return self.turns.get(turn) or Changes(turn=turn, title="", files=())
        changed = [number for number, each in self.turns.items() if number and each.files and not each.undone]
        if not changed:
            raise SessionRefused("No turn has changed a file that can be restored.")
        return self.turns[max(changed)]

    def _note(self, *call: object) -> None:
        self.calls.append(call)
        if self.refusal:
            raise KeenError(self.refusal)
