"""Finding files and lines: ripgrep where it is there, else `python_search` in a process of its own.

Both honour .gitignore, skip .git and binary files, and print in the same form. A separate process can be
ended whatever it does, also in the middle of a catastrophic regular expression.
"""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

from keen_tui.errors import ToolFailure
from keen_tui.messages import ToolSpec
from keen_tui.tools.process import child_environment
from keen_tui.tools.workspace import Place, Workspace

TIME_LIMIT = 20.0
"""Seconds that a search may take."""

MOST_OUTPUT = 4_000_000
"""Bytes of a search's output that are read; then it is ended."""

LONGEST_LINE = 300
"""Characters of a matching line that are shown."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search printed; `complete` is false when it was ended by a limit."""

    output: str
    complete: bool


class Searcher:
    """Runs searches with the engine that is there.

    Args:
        rg: path of ripgrep, or None to search in Python.
    """

    def __init__(self, workspace: Workspace, rg: str | None) -> None:
        self._workspace = workspace
        self._rg = rg

    async def files(self, place: Place) -> tuple[list[str], bool]:
        """Files below a folder, sorted, relative to it, and whether that is all of them."""
        found = await self._run(("--files",), self._folder(place))
        paths = sorted(path.removeprefix("./") for path in found.output.split("\0") if path)
        return paths, found.complete

    async def lines(self, place: Place, pattern: str) -> Found:
        """Lines that match a regular expression, each `path NUL number:text`.

        Raises:
            ToolFailure: the pattern is no regular expression.
        """
        options = (f"--regexp={pattern}",)
        if place.path.is_dir():
            return await self._run(options, place.path)
        return await self._run(options, place.path.parent, f"./{place.path.name}")

    def _folder(self, place: Place) -> Path:
        if not place.path.is_dir():
            raise ToolFailure(f"{place.name} is no folder.")
        return place.path

    async def _run(self, options: tuple[str, ...], folder: Path, what: str = "./") -> Found:
        process = await asyncio.create_subprocess_exec(
            *self._command(options),
            "--",
            what,
            cwd=folder,
            env=child_environment(os.environ),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        assert process.stdout and process.stderr
        errors = asyncio.create_task(process.stderr.read(10_000))
        try:
            output, complete = await _read(process.stdout)
        finally:
            if process.returncode is None and not process.stdout.at_eof():
                process.kill()
            await process.wait()
        complaint = (await errors).decode("utf-8", "replace").strip()
        if complete and process.returncode == 2 and not output:
            raise ToolFailure(
                f"the search failed: {complaint.splitlines()[-1] if complaint else 'no reason'}"
            )
        return Found(output.decode("utf-8", "replace"), complete)

    def _command(self, options: tuple[str, ...]) -> tuple[str, ...]:
        if self._rg is None:
            module = ("-P", "-m", "keen_tui.tools.python_search")
            return (sys.executable, *module, "--root", str(self._workspace.root), *options)
        return (
            self._rg,
            "--no-config",
            "--no-require-git",
            "--no-ignore-global",
            "--no-ignore-dot",
            "--hidden",
            "--glob",
            "!.git",
            "--null",
            "--sort",
            "path",
            *(() if "--files" in options else _MATCHING),
            *options,
        )


_MATCHING = (
    "--line-number",
    "--with-filename",
    "--no-heading",
    "--color=never",
    f"--max-columns={LONGEST_LINE}",
    "--max-columns-preview",
)


def file_pattern(spec: ToolSpec, glob: str) -> GitIgnoreSpec:
    """A glob that matches paths as lines of .gitignore do: `*.py` in every folder, `src/*.py` from here.

    Raises:
        ToolFailure: it is no pattern.
    """
    try:
        return GitIgnoreSpec.from_lines([glob.removeprefix("./")])
    except ValueError as error:
        raise ToolFailure(f"{spec.name}: {glob!r} is no pattern: {error}.") from error


async def _read(stream: asyncio.StreamReader) -> tuple[bytes, bool]:
    """All of a stream, up to MOST_OUTPUT and TIME_LIMIT, and whether that was all."""
    pieces: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(TIME_LIMIT):
            while chunk := await stream.read(65_536):
                pieces.append(chunk)
                size += len(chunk)
                if size > MOST_OUTPUT:
                    return b"".join(pieces), False
    except TimeoutError:
        return b"".join(pieces), False
    return b"".join(pieces), True
