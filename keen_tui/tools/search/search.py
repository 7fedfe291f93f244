"""Finds files and lines: with ripgrep if it is installed, else with `python_search` in a separate process.

Both honour .gitignore, skip .git and binary files, and print in the same format. A separate process can be
ended at any time, even during a catastrophic regular expression.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from keen_tui.domain.errors import ToolFailure
from keen_tui.system.child_environment import child_environment
from keen_tui.tools.files.workspace import ResolvedPath, Workspace
from keen_tui.tools.rules.globs import Glob
from keen_tui.tools.search.gitignore import start_of_rules

TIME_LIMIT = 20.0
"""Seconds that a search may take."""

MOST_OUTPUT = 8_000_000
"""Bytes of a search's output that are read; then the search is ended."""

LONGEST_LINE = 300
"""Characters of a matching line that are shown."""

ENDED_EARLY = "[the search reached its limits: there may be more]"

_RIPGREP = (
    "--no-config",
    "--no-messages",
    "--no-require-git",
    "--no-ignore-global",
    "--no-ignore-exclude",
    "--no-ignore-dot",
    "--hidden",
    "--glob=!.git",
    "--null",
    "--color=never",
)
_SORTED = "--sort=path"
"""Sorts the output; this also makes ripgrep use one thread."""
_RIPGREP_LINES = (
    "--line-number",
    "--with-filename",
    "--no-heading",
    f"--max-columns={LONGEST_LINE + 1}",
    "--max-columns-preview",
)


class Match(Struct, frozen=True):
    """A line that matches. `path` is relative to the folder searched; `line` may be cut."""

    path: str
    number: int
    line: str


class Matches(Struct, frozen=True):
    """The first matching lines, and their number: `lines` in `files`, or more unless `complete`. `withheld`
    are matching files that need a question first."""

    first: tuple[Match, ...]
    lines: int
    files: int
    complete: bool
    withheld: tuple[str, ...] = ()


class _Found(Struct, frozen=True):
    output: bytes
    complete: bool


class Searcher:
    """Runs searches with the available engine.

    Args:
        rg: path of ripgrep, or None to search in Python.
    """

    def __init__(self, workspace: Workspace, rg: str | None, *, time_limit: float = TIME_LIMIT) -> None:
        self._workspace = workspace
        self._rg = rg
        self._time_limit = time_limit

    async def files(self, place: ResolvedPath, glob: str) -> tuple[list[str], bool]:
        """Files below a folder that match a glob, sorted, relative to the folder, and whether the list is
        complete.

        Raises:
            ToolFailure: the glob is invalid, or the search failed.
        """
        wanted = Glob(glob)
        found = await self._run(place.path, "./", ("--files",), glob)
        return await asyncio.to_thread(_files, found.output, wanted), found.complete

    async def lines(self, place: ResolvedPath, pattern: str, glob: str | None, most: int) -> Matches:
        """Lines that match a regular expression, by path; keeps the first `most` of them.

        Raises:
            ToolFailure: the regular expression or the glob is invalid, or the search failed.
        """
        wanted = Glob(glob) if glob else None
        is_folder = await asyncio.to_thread(place.path.is_dir)
        folder, what = (place.path, "./") if is_folder else (place.path.parent, f"./{place.path.name}")
        found = await self._run(folder, what, (f"--regexp={pattern}",), glob)
        hidden = self._withheld(place) if is_folder else lambda _: False
        return await asyncio.to_thread(_matches, found, wanted, hidden, most)

    async def lines_of_text(self, text: str, pattern: str, most: int) -> Matches:
        """Lines of a text that match a regular expression; the first `most` of them are kept.

        Raises:
            ToolFailure: the regular expression is invalid, or the search failed.
        """
        root = self._workspace.root
        content = await asyncio.to_thread(text.encode, "utf-8", "replace")
        engine = self._python(root, None)
        if self._rg is not None:
            engine = (self._rg, *_RIPGREP, *_RIPGREP_LINES, "--text")
        process = await _started((*engine, f"--regexp={pattern}", "--", "-"), root, reads=True)
        feeding = asyncio.create_task(_feed(process, content))
        try:
            found = await self._output(process)
        finally:
            feeding.cancel()
            await asyncio.wait((feeding,))
        return await asyncio.to_thread(_matches, found, None, lambda _: False, most)

    async def all_files(self) -> AsyncGenerator[list[str], None]:
        """The files of the workspace as they are found, unordered, relative to the workspace.

        Raises:
            ToolFailure: the search can't start.
        """
        root = self._workspace.root
        start = await asyncio.to_thread(start_of_rules, root, root)
        engine = self._python(start, None) if self._rg is None else self._ripgrep(start == root, None)
        process = await _started((*engine, "--files", "--", "./"), root)
        assert process.stdout
        rest, left = b"", MOST_OUTPUT
        end = asyncio.get_running_loop().time() + self._time_limit
        try:
            while left > 0 and (chunk := await _read_before(end, process.stdout)):
                left -= len(chunk)
                *names, rest = (rest + chunk).split(b"\0")
                yield [name.decode("utf-8", "replace").removeprefix("./") for name in names]
        finally:
            await _ended(process)

    def _withheld(self, place: ResolvedPath) -> Callable[[str], bool]:
        """A function that says whether a search skips a file below the folder."""
        return lambda path: self._workspace.withholds(self._workspace.place(f"{place.path}/{path}"))

    async def _run(self, folder: Path, what: str, options: tuple[str, ...], glob: str | None) -> _Found:
        start = await asyncio.to_thread(start_of_rules, folder, self._workspace.root)
        engine = self._python(start, glob) if self._rg is None else self._ripgrep(start == folder, glob)
        if self._rg is not None:
            engine = (*engine, _SORTED) if "--files" in options else (*engine, _SORTED, *_RIPGREP_LINES)
        return await self._output(await _started((*engine, *options, "--", what), folder))

    def _ripgrep(self, rules_start_here: bool, glob: str | None) -> tuple[str, ...]:
        """The command line. A glob is passed as a file type: as a glob it would overrule .gitignore."""
        assert self._rg is not None
        types = [f"--type-add=wanted:{name}" for name in Glob(glob).file_names] if glob else []
        only = (*types, "--type=wanted") if types else ()
        return (self._rg, *_RIPGREP, *(("--no-ignore-parent",) if rules_start_here else ()), *only)

    def _python(self, start: Path, glob: str | None) -> tuple[str, ...]:
        program = (sys.executable, "-P", "-m", "keen_tui.tools.search.python_search")
        only = (f"--only={glob}",) if glob else ()
        return (*program, f"--start={start}", f"--longest={LONGEST_LINE + 1}", *only)

    async def _output(self, process: asyncio.subprocess.Process) -> _Found:
        """The output of the process, up to the limits; then the process is ended.

        Raises:
            ToolFailure: it reported an error and found nothing.
        """
        assert process.stdout and process.stderr
        complaint = asyncio.create_task(process.stderr.read(10_000))
        try:
            output, complete = await self._read(process.stdout)
        finally:
            await _ended(process)
        said = " ".join((await complaint).decode("utf-8", "replace").split())
        if complete and said and not output:
            said = said.partition(" Consider enabling PCRE2")[0]  # an option that the model doesn't have
            raise ToolFailure(f"the search failed: {said[:500]}")
        return _Found(output, complete and not said)

    async def _read(self, stream: asyncio.StreamReader) -> tuple[bytes, bool]:
        pieces: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._time_limit):
                while chunk := await stream.read(65_536):
                    pieces.append(chunk)
                    size += len(chunk)
                    if size > MOST_OUTPUT:
                        return b"".join(pieces), False
        except TimeoutError:
            return b"".join(pieces), False
        return b"".join(pieces), True


async def _started(
    command: Sequence[str], folder: Path, *, reads: bool = False
) -> asyncio.subprocess.Process:
    """The process; if it `reads`, its standard input is a pipe."""
    try:
        return await asyncio.create_subprocess_exec(
            *command,
            cwd=folder,
            env=_environment(),
            stdin=asyncio.subprocess.PIPE if reads else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise ToolFailure(f"the search can't start: {error.strerror}.") from error


async def _feed(process: asyncio.subprocess.Process, content: bytes) -> None:
    """Write to the process; it may end before it has read everything."""
    assert process.stdin
    with suppress(ConnectionError):
        process.stdin.write(content)
        await process.stdin.drain()
    process.stdin.close()


async def _read_before(end: float, stream: asyncio.StreamReader) -> bytes:
    """The next piece; empty if none arrives before that time of the loop."""
    try:
        async with asyncio.timeout_at(end):
            return await stream.read(65_536)
    except TimeoutError:
        return b""


async def _ended(process: asyncio.subprocess.Process) -> None:
    """End the process and read the rest of its output: asyncio waits for the end of a pipe that nobody
    reads."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)  # process.kill() would hide its exit from asyncio
    while process.stdout and await process.stdout.read(65_536):
        pass
    await process.wait()


def _environment() -> dict[str, str]:
    """The environment of commands, with this program's own modules, so that no module of the project is
    imported."""
    own_modules = os.pathsep.join(path for path in sys.path if Path(path).is_absolute())
    return child_environment(os.environ) | {"PYTHONPATH": own_modules}


def _files(output: bytes, wanted: Glob) -> list[str]:
    paths = (path.removeprefix("./") for path in output.decode("utf-8", "replace").split("\0")[:-1])
    return sorted(path for path in paths if wanted.matches(path))


def _matches(found: _Found, wanted: Glob | None, hidden: Callable[[str], bool], most: int) -> Matches:
    """Parse the output. After the first `most` lines only their number is kept."""
    first: list[Match] = []
    lines = 0
    seen: dict[bytes, str | None] = {}
    withheld: list[str] = []
    for raw, number, line in _rows(found.output):
        if raw not in seen:
            path = raw.decode("utf-8", "replace")
            seen[raw] = path if not wanted or wanted.matches(path) else None
            if seen[raw] is not None and hidden(path):
                withheld.append(path)
                seen[raw] = None
        path_wanted = seen[raw]
        if path_wanted is None:
            continue
        lines += 1
        if len(first) < most:
            first.append(Match(path_wanted, number, line.decode("utf-8", "replace")))
    files = sum(path is not None for path in seen.values())
    return Matches(tuple(first), lines, files, found.complete, tuple(withheld))


def _rows(output: bytes) -> Iterator[tuple[bytes, int, bytes]]:
    """Rows of `./path NUL number:text`. A path may contain line breaks; a row without NUL is only a
    remark."""
    begun = b""
    start = 0
    while (end := output.find(b"\n", start)) >= 0:
        row, start = output[start:end], end + 1
        if b"\0" not in row:
            begun = row + b"\n" if row.startswith(b"./") else begun + row + b"\n"
            continue
        path, _, rest = (row if row.startswith(b"./") else begun + row).partition(b"\0")
        number, _, line = rest.partition(b":")
        begun = b""
        if number.isdigit():
            yield path.removeprefix(b"./"), int(number), line.removesuffix(b"\r")
