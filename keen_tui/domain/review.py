"""A review of changes: what is reviewed, what was found, and how it went."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from keen_tui.domain.choices import Priority
from keen_tui.domain.spent import NOTHING, Spent

ScopeKind = Literal["uncommitted", "base", "commit"]


class ReviewWish(Struct, frozen=True):
    """The changes that the user asked for. `name` is a branch for `base`, and a revision or a range such as
    `v1.0..HEAD` for `commit`; with `kind` None these are the uncommitted changes if there are any, else those
    of the branch. `focus` says what to look for above all, "" for anything."""

    kind: ScopeKind | None = None
    name: str = ""
    focus: str = ""


class ReviewScope(Struct, frozen=True, kw_only=True):
    """The changes under review, from the commit `old` to the commit `new`; "" for `old` if there is nothing
    before them, and for `new` if they aren't committed. `title` says in a few words which changes they
    are, and names the beginning of the `focus`."""

    kind: ScopeKind
    title: str
    name: str = ""
    old: str = ""
    new: str = ""
    focus: str = ""


class SkippedFile(Struct, frozen=True):
    """A changed file that isn't reviewed, and why in a few words."""

    path: str
    reason: str


class Finding(Struct, frozen=True, kw_only=True):
    """A problem that a review found, in the lines from `first_line` to `last_line` of the file. `confidence`
    is the model's own, from 0 to 1; `suggestion` says how to fix it, "" for nothing."""

    priority: Priority
    title: str
    reason: str
    file: str
    first_line: int
    last_line: int
    confidence: float
    suggestion: str = ""

    @property
    def place(self) -> str:
        """`src/cart.py:12`."""
        return f"{self.file}:{self.first_line}"


ReviewState = Literal["running", "done", "incomplete", "error"]


class ReviewReport(Struct, frozen=True, kw_only=True):
    """A review. `root` is the folder from which `files` and the places of findings count, `files` are those
    that are reviewed. `detail` says why it isn't done. `notices` are sentences for the user. `session_id` is
    the session in which it is saved, "" if the model wasn't asked. `calls` is the number of its tool calls so
    far, `newest_call` the last of them in a few words."""

    scope: ReviewScope
    root: str
    files: tuple[str, ...] = ()
    left_out: tuple[SkippedFile, ...] = ()
    state: ReviewState = "running"
    summary: str = ""
    findings: tuple[Finding, ...] = ()
    detail: str = ""
    notices: tuple[str, ...] = ()
    session_id: str = ""
    model: str = ""
    spent: Spent = NOTHING
    calls: int = 0
    newest_call: str = ""

    def reaches(self, priority: Priority) -> bool:
        """Whether a finding is as urgent as that, or more."""
        return any(finding.priority <= priority for finding in self.findings)


def in_order(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The findings, the most urgent first, then by their places."""
    return tuple(sorted(findings, key=lambda each: (each.priority, each.file, each.first_line)))
