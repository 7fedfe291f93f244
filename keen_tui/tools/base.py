"""The contract between the turn loop and a tool."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from msgspec import Struct

from keen_tui.domain.display import Display
from keen_tui.domain.file_changes import FileChange
from keen_tui.domain.messages import ToolResult, ToolSpec
from keen_tui.text.hosts import Host
from keen_tui.tools.network.gate import HostGate
from keen_tui.tools.quarantine.new_files import NewFiles
from keen_tui.tools.question_spec import QuestionSpec

if TYPE_CHECKING:
    from keen_tui.settings.added.agents import AgentDefinition
    from keen_tui.tools.mcp.elicitation import Asking

OutputSink = Callable[[str, int, int], None]
"""Takes live output: new cleaned text, then lines and bytes of output so far."""

Run = Callable[[OutputSink], Awaitable[ToolResult]]
"""Runs a prepared call."""


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
    """What a prepared call touches; permissions judge it. A call that touches nothing is always allowed.

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


class Outside(Struct, frozen=True, kw_only=True):
    """How to run a call that failed in its sandbox again, outside it.

    `reason` says, from the result of the first run, what the sandbox most likely stopped; "" for nothing.
    `run` is like the `run` of the call.
    """

    reason: Callable[[ToolResult], str]
    run: Run


class Trial(Struct, frozen=True, kw_only=True):
    """How to run a command read-only before anybody is asked about it.

    No effect of `run` lasts. `reason` says from its result why the command has to run again with write
    access; "" if the result counts.
    """

    reason: Callable[[ToolResult], str]
    run: Run


class AgentOrder(Struct, frozen=True):
    """A task for a sub-agent."""

    agent: AgentDefinition
    prompt: str


class PreparedCall(Struct, frozen=True, kw_only=True):
    """A checked call that has touched nothing yet. `display` is shown in the question. `outside` is set for a
    call that runs in a sandbox, `network` if a person or a rule may let it reach hosts from there,
    `new_files` if it may create files there, and `asks` for a call that is only a question to the person and
    isn't run.

    `order` is set for a call that a sub-agent does; then nothing is run here.

    `goes_on`: a command that runs on in the background after its call.

    `asking` takes the questions that an MCP server asks the person while the call runs.

    `after_yes` runs the call after a person's yes to it, if that allows more than `run`. `trial` is set for a
    command that may run read-only first.

    `run` runs the call. It raises ToolFailure for errors, and lets CancelledError pass, except that a write
    that is already replacing its file finishes and returns its result.
    """

    access: Access
    display: Display | None
    run: Run
    after_yes: Run | None = None
    trial: Trial | None = None
    outside: Outside | None = None
    asks: QuestionSpec | None = None
    network: HostGate | None = None
    new_files: NewFiles | None = None
    asking: Asking | None = None
    goes_on: bool = False
    order: AgentOrder | None = None


async def not_run(_: OutputSink) -> ToolResult:
    """The `run` of a call that is a question, which is answered instead, or a task for a sub-agent."""
    raise AssertionError("the call isn't run")


class Backup(Protocol):
    """Keeps what would be lost: the content of files before a change, and long output. Called in a thread.

    None of the methods may raise, and a change is made even if the backup fails.
    """

    def keep(
        self, path: Path, name: str, before: bytes | None, after: bytes | None, mode: int | None
    ) -> None:
        """Save a file that is about to be changed; returns once its content is on the disk.

        `before` and `mode`, the permission bits, are None if the file doesn't exist yet. `name` is how memory
        calls `path`, whose symlinks are resolved.
        """

    def note_changes(self, changes: Sequence[FileChange]) -> None:
        """Save what a command has changed."""

    def withdraw(self, path: Path) -> None:
        """Withdraw the last change of this path, which wasn't made after all."""

    def new_output_file(self) -> Path | None:
        """A new file for output that is too long for a result; None: the output isn't kept."""

    def is_output(self, path: Path) -> bool:
        """Whether the path, with its symlinks resolved, is an output file of this session."""


class Tool(Protocol):
    """One tool. New tools are one file and one line in `toolbox`."""

    spec: ToolSpec

    @property
    def only_reads(self) -> bool:
        """Whether its calls change nothing, so that several of them may run at once (turn.md rule 4)."""
        ...

    def target(self, arguments: Mapping[str, Any]) -> str:
        """What the call acts on, in a few words, from arguments that may be wrong. MUST NOT raise."""
        ...

    async def prepare(self, arguments: Mapping[str, Any]) -> PreparedCall:
        """Check the arguments without touching anything.

        Raises:
            ToolFailure: the call can't work; the text tells the model why and what to do.
        """
        ...
