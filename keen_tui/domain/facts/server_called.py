"""Calls of tools of MCP servers, which are remembered by tool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Final

from msgspec.structs import replace

from keen_tui.domain.facts.remembered import FactRow, Remembered, quoted

MOST_CALLED: Final = 20
"""The most tools of MCP servers that a request names; others are counted."""
_LONGEST_NAME: Final = 200


class ServerCalled(Remembered, frozen=True, kw_only=True):
    """A tool of an MCP server was called that may have changed something; `failed`: the server says that it
    couldn't do it, or gave no answer."""

    MAY_CHANGE_FILES = True

    server: str
    tool: str
    failed: bool = False

    @property
    def remembered(self) -> CalledTool:
        return CalledTool(server=self.server, tool=self.tool, done=not self.failed, failed=self.failed)


class CalledTool(Remembered, frozen=True, kw_only=True, tag=False):
    """A tool of an MCP server, with the number of its calls that succeeded (`done`) and that failed."""

    FIELD = "called"
    SIGN = "→"
    LABEL = "called: "

    server: str
    tool: str
    done: int = 0
    failed: int = 0

    @property
    def name(self) -> str:
        """`github.create_issue`."""
        return f"{self.server}.{self.tool}"

    @property
    def outcome(self) -> str:
        """What its calls came to: `ok`, `failed`, `3 ok, 1 failed`."""
        if self.done + self.failed == 1:
            return "failed" if self.failed else "ok"
        counts = ((self.done, "ok"), (self.failed, "failed"))
        return ", ".join(f"{count} {word}" for count, word in counts if count)

    @property
    def row(self) -> FactRow:
        phrase = f"{self.name} ({self.outcome})"
        return FactRow(self.name, self.outcome, phrase=phrase, failed=bool(self.failed))

    @property
    def reported(self) -> Iterator[ServerCalled]:
        for failed, count in ((False, self.done), (True, self.failed)):
            yield from repeat(ServerCalled(server=self.server, tool=self.tool, failed=failed), count)

    @classmethod
    def merged(cls, facts: Iterable[CalledTool]) -> tuple[CalledTool, ...]:
        found: dict[str, CalledTool] = {}
        for fact in facts:
            before = found.get(fact.name)
            done, failed = (before.done, before.failed) if before else (0, 0)
            found[fact.name] = replace(fact, done=done + fact.done, failed=failed + fact.failed)
        return tuple(found.values())

    @classmethod
    def lines(cls, facts: Sequence[CalledTool]) -> Iterator[str]:
        named = [f"{quoted(each.name[:_LONGEST_NAME])} ({each.outcome})" for each in facts[:MOST_CALLED]]
        more = len(facts) - MOST_CALLED
        yield "Called: " + ", ".join((*named, *((f"and {more} other tools",) if more > 0 else ())))

    @classmethod
    def count(cls, facts: Sequence[CalledTool]) -> str:
        return str(sum(fact.done + fact.failed for fact in facts))
