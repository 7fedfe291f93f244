"""A tool of a server as a tool of the model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, Final

from keen_tui.domain.display import TextDisplay
from keen_tui.domain.errors import ServerFailed, ServerGone, ToolFailure
from keen_tui.domain.facts.server_called import ServerCalled
from keen_tui.domain.messages import ToolResult, ToolSpec
from keen_tui.system.time_limit import TimeLimit
from keen_tui.text.lines import cut
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted
from keen_tui.tools.access.access import Access
from keen_tui.tools.calls.schemas import usable_schema
from keen_tui.tools.calls.shown_arguments import arguments_in_short, arguments_shown
from keen_tui.tools.calls.tool import PreparedCall
from keen_tui.tools.mcp.elicitation import Asking
from keen_tui.tools.mcp.results import NewFile, ServerResult, server_result
from keen_tui.tools.mcp.server import ServerCall, ServerConnection
from keen_tui.tools.process.bounded_output import CapturedOutput, OutputSink
from keen_tui.tools.process.live_output import LiveOutput

_LONGEST_DESCRIPTION: Final = 4_000
_LONGEST_TARGET: Final = 200
_MOST_ARGUMENT_BYTES: Final = 4_000_000


class ServerTool:
    """Calls one tool of a server. `name` is the full name for the model, `described` the server's description
    of the tool.

    Raises:
        SchemaRefused: the APIs wouldn't accept its parameters.
    """

    def __init__(
        self, connection: ServerConnection, name: str, described: Mapping[str, Any], new_file: NewFile
    ) -> None:
        schema = usable_schema(described.get("inputSchema"))
        note = f"\n[{schema.note}]" if schema.note else ""
        self.spec = ToolSpec(
            name=name,
            description=f"{_description(described, connection.server.name)}{note}",
            parameters=schema.value,
        )
        self.tool = str(described["name"])
        self.server = connection.server.name
        self.bytes = len(self.spec.name + self.spec.description) + len(json.dumps(self.spec.parameters))
        """About how many bytes the tool takes in a request."""
        self._connection = connection
        self._new_file = new_file
        hints = described.get("annotations")
        self._hints: Mapping[str, Any] = hints if isinstance(hints, Mapping) else {}

    @property
    def only_reads(self) -> bool:
        """Whether the server says so. Nothing checks it."""
        return self._hints.get("readOnlyHint") is True

    def target(self, arguments: Mapping[str, Any]) -> str:
        named = f"{self._connection.server.name}.{self.tool}"
        return clean(f"{named} {arguments_in_short(arguments)}".strip())[:_LONGEST_TARGET]

    async def prepare(self, arguments: Mapping[str, Any]) -> PreparedCall:
        try:
            length = len(json.dumps(arguments, allow_nan=False))
        except ValueError as error:
            raise ToolFailure(f"{self.spec.name}: the arguments aren't JSON: {error}.") from error
        if length > _MOST_ARGUMENT_BYTES:
            raise ToolFailure(f"{self.spec.name}: the arguments are too large.")
        asking = Asking(clean(self._connection.server.name), TimeLimit(self._connection.server.tool_timeout))
        shown = "\n".join(arguments_shown(arguments)) or "without arguments"
        return PreparedCall(
            access=Access(
                kind="mcp",
                subject=self.spec.name,
                concern=self._concern,
                says_it_reads=self.only_reads,
            ),
            display=TextDisplay(text=shown),
            run=lambda on_output: self._run(arguments, asking, on_output),
            asking=asking,
        )

    @property
    def _concern(self) -> str:
        if self.only_reads:
            return "the server says that it only reads, but nothing checks that"
        if self._hints.get("destructiveHint") is True:
            return "the server says that it may delete or overwrite something"
        return "it runs in the server, outside Keen and its sandbox"

    async def _run(self, arguments: Mapping[str, Any], asking: Asking, on_output: OutputSink) -> ToolResult:
        connection, limit = self._connection, asking.limit
        live = LiveOutput(CapturedOutput(), on_output)

        def tell(text: str) -> None:
            if call in connection.calls:  # a late message belongs to no call
                live.feed(f"{clean(text)}\n".encode("utf-8", "replace"))

        def progress(done: float, total: float | None, message: str) -> None:
            tell(_progress(done, total, message))

        call = ServerCall(asking, tell)
        connection.calls.append(call)
        try:
            async with limit.within():
                answer = await connection.call(self.tool, arguments, progress)
        except TimeoutError:
            words = f"it was stopped after {limit.seconds:g} seconds, effects unknown"
            return self._failed(f"{words}. tool_timeout_sec of the server sets the limit.", "timed out")
        except ServerGone as error:
            words = f"{error} while the call ran, so its effects are unknown"
            is_back = connection.state == "starting"
            again = "It is being started again" if is_back else "It stays off until the user restarts it"
            return self._failed(f"{words}. {again}. Check what was done before you repeat it.", "server gone")
        except ServerFailed as error:
            return self._failed(f"{error}{_note(asking)}", "failed")
        finally:
            connection.calls.remove(call)
            asking.close()
            live.close()
        result = await asyncio.to_thread(server_result, answer, self._new_file)
        return self._result(result, asking)

    def _result(self, result: ServerResult, asking: Asking) -> ToolResult:
        text = f"{result.text}{_note(asking)}" or "(the tool returned nothing)"
        lines = result.shown.count("\n") + 1 if result.shown.strip() else 0
        return ToolResult(
            text=f"Error: {text}" if result.is_error else text,
            summary="failed" if result.is_error else counted(lines, "line") if lines else "done",
            display=TextDisplay(text=result.shown.strip("\n") or "(nothing)"),
            facts=self._facts(failed=result.is_error),
            is_error=result.is_error,
            images=result.images,
        )

    def _failed(self, words: str, summary: str) -> ToolResult:
        named = f"{self.tool} of the MCP server {self._connection.server.name}"
        return ToolResult(
            text=clean(f"Error: {named}: {words}", newlines=True),
            summary=summary,
            facts=self._facts(failed=True),
            is_error=True,
        )

    def _facts(self, *, failed: bool) -> tuple[ServerCalled, ...]:
        if self.only_reads:
            return ()
        return (ServerCalled(server=self._connection.server.name, tool=self.tool, failed=failed),)


def _note(asking: Asking) -> str:
    return f"\n[{asking.declined}]" if asking.declined else ""


def _description(described: Mapping[str, Any], server: str) -> str:
    """The server's description of the tool, for the model."""
    said = str(described.get("description") or described.get("title") or "")
    words = clean(said, newlines=True, tabs=True).strip()
    return cut(words, _LONGEST_DESCRIPTION) or f"A tool of the MCP server {server}."


def _progress(done: float, total: float | None, message: str) -> str:
    amount = f"{done:g} of {total:g}" if total else f"{done:g}"
    return f"{amount}: {message}" if message else amount
