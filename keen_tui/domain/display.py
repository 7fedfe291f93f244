"""What a tool shows a person, as plain data. frontends/tui/tool_views draws it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct


class _Shown(Struct, frozen=True, kw_only=True, tag_field="kind", tag=True):
    """As JSON, `kind` says which display it is."""


class TextDisplay(_Shown, frozen=True, kw_only=True):
    """Plain text, for example an error result."""

    text: str


class FileDisplay(_Shown, frozen=True, kw_only=True):
    """A part of a file. `text` has no line numbers; `first_line` is the 1-based number of its first line."""

    path: str
    text: str
    first_line: int = 1


class DiffLine(Struct, frozen=True, kw_only=True):
    """One row of a diff. `number` is the old number of a removed line, else the new one (from 1); 0: the row
    is a file name, in a diff of several files."""

    sign: Literal["+", "-", " "]
    number: int
    text: str


class DiffDisplay(_Shown, frozen=True, kw_only=True):
    """The change of one file: hunks of rows in file order, with `added` and `removed` counted in lines.

    `left_out` is the number of rows that were cut from the end because the diff is too long to show. `opened`
    says for each hunk what its old and its new text begin inside of (`/*`), "" for nothing; it is empty where
    no hunk does.
    """

    path: str
    hunks: tuple[tuple[DiffLine, ...], ...]
    added: int
    removed: int
    total_lines: int
    left_out: int = 0
    opened: tuple[tuple[str, str], ...] = ()

    def opened_before(self, hunk: int) -> tuple[str, str]:
        """What the old and the new text of that hunk begin inside of."""
        return self.opened[hunk] if hunk < len(self.opened) else ("", "")


class PartDisplay(Struct, frozen=True, kw_only=True):
    """A simple command of a compound one. `note` says in a few words what it does. It `loses` something if it
    deletes, or does what can't be undone; it `warns` of another risk."""

    text: str
    note: str
    loses: bool = False
    warns: bool = False

    @property
    def is_risky(self) -> bool:
        """Whether it is marked and listed before the others."""
        return self.loses or self.warns


ChangeKind = Literal["created", "changed", "deleted"]
"""What became of a file."""


class ChangedFile(Struct, frozen=True, kw_only=True):
    """A file that a command changed. `diff` are its changed lines; None if they aren't shown, and `note` says
    why in a few words."""

    path: str
    change: ChangeKind
    diff: DiffDisplay | None = None
    note: str = ""


class CommandDisplay(_Shown, frozen=True, kw_only=True):
    """A shell command with its output (stdout and stderr in order of arrival, cleaned, capped).

    While Keen asks about it, `parts` are its simple commands, as far as they matter. `changed` are the files
    that it changed, but for `more_changed` others.
    """

    command: str
    output: str
    exit_code: int | None
    parts: tuple[PartDisplay, ...] = ()
    changed: tuple[ChangedFile, ...] = ()
    more_changed: int = 0


class FileListDisplay(_Shown, frozen=True, kw_only=True):
    """Paths or matching lines that were found; `more` is the number left out."""

    lines: tuple[str, ...]
    more: int = 0


TodoStatus = Literal["pending", "in_progress", "done"]


class TodoItem(Struct, frozen=True, kw_only=True):
    """An item of the to-do list."""

    text: str
    status: TodoStatus = "pending"


class TodoDisplay(_Shown, frozen=True, kw_only=True):
    """A to-do list, in working order."""

    items: tuple[TodoItem, ...]

    @property
    def progress(self) -> str:
        """`2 of 5 done`."""
        return todo_progress(self.items)

    @property
    def as_text(self) -> str:
        """One line per item: `[x]` done, `[>]` in progress."""
        marks = {"pending": " ", "in_progress": ">", "done": "x"}
        return "\n".join(f"[{marks[item.status]}] {item.text}" for item in self.items)


def todo_progress(items: Sequence[TodoItem]) -> str:
    """The progress of a list: `2 of 5 done`, `empty`."""
    done = sum(item.status == "done" for item in items)
    return f"{done} of {len(items)} done" if items else "empty"


class PageDisplay(_Shown, frozen=True, kw_only=True):
    """A page that was fetched. `url` is the address that answered, `title` is "" for none, `media_type` such
    as `text/html`, `bytes` its size unpacked; `text` is what the model got of it."""

    url: str
    title: str
    status: int
    media_type: str
    bytes: int
    text: str


class AgentDisplay(_Shown, frozen=True, kw_only=True):
    """A sub-agent's work. `session` is the id of its session, `text` its last message, `calls` the number
    of its tool calls; `kept_out` are the bytes of its trace, of which the parent sees nothing."""

    agent: str
    session: str
    text: str = ""
    calls: int = 0
    kept_out: int = 0


Display = (
    TextDisplay
    | FileDisplay
    | DiffDisplay
    | CommandDisplay
    | FileListDisplay
    | TodoDisplay
    | PageDisplay
    | AgentDisplay
)
