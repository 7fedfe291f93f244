"""Passes the output of a command on to everybody who needs it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from msgspec import Struct

from keen_tui.text.redaction import KeysTakenOut
from keen_tui.tools.process.bounded_output import CapturedOutput, OutputSink
from keen_tui.tools.process.live_output import LiveOutput
from keen_tui.tools.process.spooled_output import KeptOutput


class OutputSoFar(Struct, frozen=True, kw_only=True):
    """Output that somebody else continues: its file, the remover of its API keys, its newest bytes, and how
    many bytes it has."""

    kept: KeptOutput
    without_keys: KeysTakenOut
    newest: bytes
    size: int


class CommandOutput:
    """The output of one command: without API keys, shown live, and saved in a file if it is long.

    Args:
        on_output: shows it live.
        new_file: names a file for output that is too long for a result; None: such output isn't saved.
        keys: the API keys to remove.
    """

    def __init__(
        self, on_output: OutputSink, new_file: Callable[[], Path | None], keys: Iterable[str]
    ) -> None:
        self._captured = CapturedOutput()
        self._kept = KeptOutput(new_file)
        self._live = LiveOutput(self._captured, on_output)
        self._without_keys = KeysTakenOut(keys)

    def feed(self, chunk: bytes) -> None:
        """Add output. May be called in another thread."""
        self._pass_on(self._without_keys.feed(chunk))

    def end(self) -> None:
        """Show the rest: the output has ended."""
        self._pass_on(self._without_keys.rest())
        self._live.close()

    def text(self) -> str:
        """The output for the result, with the name of the file that has all of it. Writes that file."""
        return self._captured.text(self._kept.close()).strip("\n")

    def handed_over(self) -> OutputSoFar:
        """Show the rest live, and hand the output over. Don't call anything else afterwards."""
        self._live.close()
        captured = self._captured
        return OutputSoFar(
            kept=self._kept, without_keys=self._without_keys, newest=captured.newest, size=captured.bytes
        )

    def discard(self) -> None:
        """Remove the file: nobody will read it."""
        self._kept.discard()

    def _pass_on(self, chunk: bytes) -> None:
        if chunk:
            self._kept.feed(chunk)
            self._live.feed(chunk)
