"""Runs a hook's command: as the user, outside the sandbox, without API keys, and for a bounded time."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from keen_tui.system.child_environment import api_keys, key_variables, own_environment
from keen_tui.system.executables import find_program
from keen_tui.text.redaction import taken_out
from keen_tui.tools.process.output_pipe import output_pipe
from keen_tui.tools.process.process import run_command
from keen_tui.tools.sandbox.base import Launch

BLOCKS: Final = 2
"""The exit code with which a hook blocks."""

MOST_OUTPUT: Final = 100_000
"""Bytes of each output that are kept; the rest is dropped."""

_SCRIPT: Final = 'exec </dev/fd/{input} 2>/dev/fd/{errors}; eval "$1"'
"""`</dev/fd/12` and not `<&12`, since some shells read that as two words."""


class HookRun(Struct, frozen=True, kw_only=True):
    """How a hook's command ended. Both outputs are as it wrote them, but for API keys."""

    code: int
    output: str
    errors: str
    timed_out: bool = False


class HookPrograms:
    """Runs the commands of hooks in `folder`. `variables` are set for them besides the user's environment;
    `key_names` has further names of variables with API keys, which they don't get."""

    def __init__(
        self,
        folder: Path,
        variables: Mapping[str, str],
        key_names: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        self.folder = folder
        self._variables = variables
        self._key_names = key_names
        self._shell = find_program("bash") or find_program("sh") or "/bin/sh"

    async def run(self, command: str, given: bytes, timeout: float) -> HookRun:
        """Run the command with `given` as its standard input, for at most `timeout` seconds. Afterwards
        nothing of it is left. Cancelling kills it.

        Raises:
            OSError: it can't be started.
        """
        hidden = key_variables(os.environ, self._key_names())
        keys = api_keys(os.environ, hidden)
        output, errors = _FirstBytes(), _FirstBytes()
        with tempfile.TemporaryFile() as standard_input:
            standard_input.write(given)
            standard_input.seek(0)
            async with output_pipe(errors.feed) as (writable, _):
                try:
                    script = _SCRIPT.format(input=standard_input.fileno(), errors=writable)
                    ended = await run_command(
                        Launch(
                            argv=(self._shell, "-c", script, "hook", command),
                            environ={**own_environment(os.environ, hidden), **self._variables},
                            descriptors=(standard_input.fileno(), writable),
                        ),
                        folder=self.folder,
                        timeout=timeout,
                        on_output=output.feed,
                    )
                finally:
                    os.close(writable)
        return HookRun(
            code=ended.code,
            output=taken_out(keys, output.text),
            errors=taken_out(keys, errors.text),
            timed_out=ended.timed_out,
        )


class _FirstBytes:
    """The beginning of an output."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, chunk: bytes) -> None:
        self._bytes += chunk[: MOST_OUTPUT - len(self._bytes)]

    @property
    def text(self) -> str:
        return self._bytes.decode("utf-8", "replace")
