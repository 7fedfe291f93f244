"""The access of a prepared call."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from keen_tui.text.hosts import Host


class CommandPart(Struct, frozen=True, kw_only=True):
    """One simple command of a compound command: its words, and what it may do besides reading inside the
    workspace; "" for nothing. `is_withheld`: it reads a secret, or a file that a rule protects."""

    words: tuple[str, ...]
    concern: str = ""
    is_withheld: bool = False


class Risk(Struct, frozen=True, kw_only=True):
    """A place in a command that should be read before approval, and why in a few words."""

    text: str
    note: str


class Access(Struct, frozen=True, kw_only=True):
    """The access of a prepared call, which permissions judge. A call that touches nothing is always allowed.

    `subject` is the path for the person, the command, the full name of a tool of an MCP server (`mcp`), or
    the name of a function of the program that runs Keen; `path` is the absolute path. `inside` says whether
    the path is inside the workspace after symlinks are resolved, `creates` whether a write creates a new
    file. `concern` says why the call asks, if that isn't obvious. For a command, `parts` are all its simple
    commands, () if Keen doesn't understand all of it; `mentions` are all commands that its text names;
    `sandboxed` says whether it runs in a sandbox; `insists` says why it asks even there and under any rule;
    `risks` are marked when it asks. `unheld` says why a command runs without a sandbox although one was
    wanted, "" if it has one or the user turned it off. `secrets` are the files with names of secrets that a
    command names. With `tries`, a command that would ask runs read-only first. `is_own_code`: a write to the
    files from which Keen itself is loaded. `host` is set for a page on the web, whose address is the
    `subject`. `says_it_reads`: a server says of its tool that it only reads; nothing checks that.
    """

    kind: Literal["nothing", "read", "write", "command", "web", "mcp", "function"]
    subject: str
    path: str = ""
    inside: bool = True
    creates: bool = False
    concern: str = ""
    parts: tuple[CommandPart, ...] = ()
    mentions: tuple[tuple[str, ...], ...] = ()
    sandboxed: bool = False
    insists: str = ""
    unheld: str = ""
    secrets: tuple[Path, ...] = ()
    tries: bool = False
    is_own_code: bool = False
    risks: tuple[Risk, ...] = ()
    host: Host | None = None
    says_it_reads: bool = False

    @property
    def may_change_files(self) -> bool:
        """Whether it is a command, a function or a server's tool that may change files of the workspace."""
        match self.kind:
            case "command":
                return not self.reads_only
            case "mcp":
                return not self.says_it_reads
            case _:
                return self.kind == "function"

    @property
    def reads_only(self) -> bool:
        """Whether it is a command that Keen understands completely and that only reads inside the
        workspace."""
        return bool(self.parts) and not self.concern


NOTHING_TOUCHED: Final = Access(kind="nothing", subject="")
