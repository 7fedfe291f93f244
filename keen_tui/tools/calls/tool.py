"""The contract between the turn loop and a tool."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from keen_tui.domain.display import Display
from keen_tui.domain.messages import ToolResult, ToolSpec
from keen_tui.tools.access.access import Access
from keen_tui.tools.calls.question_spec import Person, QuestionSpec
from keen_tui.tools.network.gate import HostGate
from keen_tui.tools.process.bounded_output import OutputSink
from keen_tui.tools.quarantine.new_files import NewFiles

if TYPE_CHECKING:
    from keen_tui.settings.added.agents import AgentDefinition

Run = Callable[[OutputSink], Awaitable[ToolResult]]
"""Runs a prepared call."""


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


class AsksPerson(Protocol):
    """Asks the person what an MCP server wants to know while a call runs. `person` is set before that."""

    person: Person


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
    asking: AsksPerson | None = None
    goes_on: bool = False
    order: AgentOrder | None = None


async def not_run(_: OutputSink) -> ToolResult:
    """The `run` of a call that is a question, which is answered instead, or a task for a sub-agent."""
    raise AssertionError("the call isn't run")


class Tool(Protocol):
    """One tool. New tools are one file and one line in `toolbox`."""

    spec: ToolSpec

    @property
    def only_reads(self) -> bool:
        """Whether its calls change nothing, so that several of them may run at once (turn.md rule 4)."""
        ...

    def target(self, arguments: Mapping[str, Any]) -> str:
        """Returns the target of the call in a few words, from arguments that may be wrong. MUST NOT raise."""
        ...

    async def prepare(self, arguments: Mapping[str, Any]) -> PreparedCall:
        """Check the arguments without touching anything.

        Raises:
            ToolFailure: the call can't work; the text tells the model why and what to do.
        """
        ...
