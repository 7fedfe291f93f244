"""The tool that calls a function of the program that runs Keen."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from keen_tui.domain.display import TextDisplay
from keen_tui.domain.errors import ToolFailure
from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.domain.messages import ToolResult
from keen_tui.system.threads import called
from keen_tui.text.units import counted, first_line
from keen_tui.tools.access.access import NOTHING_TOUCHED, Access
from keen_tui.tools.calls.shown_arguments import arguments_in_short, arguments_shown
from keen_tui.tools.calls.tool import PreparedCall
from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.functions.signature import FunctionSpec
from keen_tui.tools.process.bounded_output import OutputSink, cleaned
from keen_tui.tools.process.spooled_output import capped

log = logging.getLogger(__name__)

_LONGEST_TARGET: Final = 200
_SHOWN: Final = 16_000


class FunctionResult(Struct, frozen=True):
    """The result of a function tool that returns more than text.

    `text` is for the model, `summary` a few words for a person. `files_changed` are paths, absolute or from
    the workspace, which later turns are told. `is_error`: the function couldn't do what it was asked.
    """

    text: str
    summary: str = ""
    files_changed: Sequence[str | os.PathLike[str]] = ()
    is_error: bool = False


class FunctionTool:
    """Calls one function. A plain function runs in a thread, a coroutine function in the event loop."""

    def __init__(self, function: FunctionSpec, workspace: Workspace) -> None:
        self.spec = function.spec
        self._function = function
        self._workspace = workspace

    @property
    def only_reads(self) -> bool:
        """Whether the program marked the function as read-only. Nothing checks that."""
        return self._function.reads_only

    def target(self, arguments: Mapping[str, Any]) -> str:
        return arguments_in_short(arguments)[:_LONGEST_TARGET]

    async def prepare(self, arguments: Mapping[str, Any]) -> PreparedCall:
        converted = self._converted(arguments)
        given = {name: getattr(converted, name) for name in converted.__struct_fields__}
        reads_only = self._function.reads_only
        return PreparedCall(
            access=NOTHING_TOUCHED if reads_only else Access(kind="function", subject=self.spec.name),
            display=TextDisplay(text="\n".join(arguments_shown(arguments)) or "without arguments"),
            run=lambda on_output: self._run(given, on_output),
        )

    def _converted(self, arguments: Mapping[str, Any]) -> Struct:
        """The arguments, converted to the types of the signature. Some models send null for a missing
        argument, or numbers as text; both are accepted. Raises ToolFailure."""
        present = {name: value for name, value in arguments.items() if value is not None}
        problem = ""
        for given, strict in ((arguments, True), (present, True), (present, False)):
            try:
                return msgspec.convert(given, self._function.arguments, strict=strict)
            except msgspec.ValidationError as error:
                problem = problem or str(error).replace("`", "")
        raise ToolFailure(f"{self.spec.name}: {problem.rstrip('.')}.")

    async def _run(self, given: Mapping[str, Any], _: OutputSink) -> ToolResult:
        name = self.spec.name
        try:
            value = await called(self._function.function, **given)
        except ToolFailure:
            raise
        except Exception as error:
            log.error("the tool %s of the program failed", name, exc_info=error)
            raise ToolFailure(f"{name} failed ({type(error).__name__}: {error}).") from error
        result = value if isinstance(value, FunctionResult) else FunctionResult(text=self._text(value))
        return await asyncio.to_thread(self._result, result)

    def _text(self, value: object) -> str:
        """A returned value as text. Raises ToolFailure if it can't be written as JSON."""
        if value is None or isinstance(value, str):
            return value or ""
        try:
            return msgspec.json.encode(value).decode()
        except (TypeError, ValueError) as error:
            raise ToolFailure(
                f"{self.spec.name} ran, but its result is lost: {type(value).__name__} can't become JSON."
            ) from error

    def _result(self, result: FunctionResult) -> ToolResult:
        """The result of the call. Blocks."""
        text = capped(result.text, self._workspace.new_output_file) or "(the tool returned nothing)"
        lines = len(result.text.splitlines())
        said = "failed" if result.is_error else counted(lines, "line") if lines else "done"
        return ToolResult(
            text=f"Error: {text}" if result.is_error else text,
            summary=first_line(cleaned(result.summary)) or said,
            display=TextDisplay(text=cleaned(result.text[:_SHOWN]).strip("\n") or "(nothing)"),
            facts=() if self.only_reads else tuple(self._facts(result)),
            is_error=result.is_error,
        )

    def _facts(self, result: FunctionResult) -> Iterator[FileChanged]:
        named = result.files_changed
        for path in (named,) if isinstance(named, str | os.PathLike) else named:
            yield FileChanged(path=self._workspace.place(os.fspath(path)).name)
