"""Runs git for Keen itself, outside any sandbox: for work trees, and to bring changes back from a shadow. All
commands are Keen's own.

Hooks, helpers and whatever else a repository may name are turned off, and nothing is fetched. Filters run,
since files would be wrong without them.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Final

from keen_tui.domain.errors import ConfigError, WorkTreeFailed
from keen_tui.system.child_environment import child_environment
from keen_tui.system.executables import find_program
from keen_tui.text.sanitize import clean

_GUARDS: Final = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.editor=:",
    "core.quotePath=false",
    "diff.external=",
    "diff.ignoreSubmodules=all",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "branch.autoSetupMerge=false",
    "checkout.defaultRemote=",
)
_MISSING: Final = "Work trees need git, which isn't installed here. Install it, or start without."
_VARIABLES: Final[Mapping[str, str]] = {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_ALLOW_PROTOCOL": ""}
"""No protocol is allowed: to fetch what a partial clone lacks, git would run what the repository names."""
NO_MORE: Final[Mapping[str, str]] = {}
_SECONDS: Final = 600.0
_LONGEST: Final = 300


class OwnGit:
    """Runs git. All methods block.

    Args:
        environ: names the program git.
        missing: the sentence for the user if git isn't installed.

    Raises:
        ConfigError: git isn't installed.
    """

    def __init__(self, environ: Mapping[str, str] = os.environ, missing: str = _MISSING) -> None:
        program = find_program("git", environ)
        if not program:
            raise ConfigError(missing)
        self.program = program
        self._environ = {**child_environment(environ), **_VARIABLES}

    def tried(
        self, folder: Path, *words: str, given: bytes | IO[bytes] = b"", more: Mapping[str, str] = NO_MORE
    ) -> tuple[int, bytes, str]:
        """Run a command in the folder: its exit code, its output, and the last lines of what it complained
        about. `given` is its standard input, or a file with it; `more` are further variables.

        Raises:
            WorkTreeFailed: it can't be started, or doesn't end.
        """
        guards = [word for setting in _GUARDS for word in ("-c", setting)]
        source: dict[str, Any] = {"input": given} if isinstance(given, bytes) else {"stdin": given}
        try:
            ended = subprocess.run(
                (self.program, *guards, *words),
                cwd=folder,
                env={**self._environ, **more},
                capture_output=True,
                timeout=_SECONDS,
                check=False,
                **source,
            )
        except subprocess.TimeoutExpired as error:
            raise WorkTreeFailed(f"git {words[0]} took too long in {folder} and was stopped.") from error
        except OSError as error:
            raise WorkTreeFailed(f"git can't run in {folder}: {error.strerror}.") from error
        return ended.returncode, ended.stdout, _complaint(ended.stderr)

    def output(
        self, folder: Path, *words: str, given: bytes | IO[bytes] = b"", more: Mapping[str, str] = NO_MORE
    ) -> bytes:
        """The output of a command. Raises WorkTreeFailed with git's own words if it fails."""
        code, output, complaint = self.tried(folder, *words, given=given, more=more)
        if code:
            raise WorkTreeFailed(f"git {words[0]} failed in {folder}: {complaint or f'exit code {code}'}")
        return output

    def line(self, folder: Path, *words: str) -> str:
        """The first line of a command's output, "" if it fails."""
        code, output, _ = self.tried(folder, *words)
        return "" if code else os.fsdecode(output.partition(b"\n")[0])

    def is_true(self, folder: Path, *words: str) -> bool:
        """Whether the command succeeds."""
        return self.tried(folder, *words)[0] == 0


def _complaint(stderr: bytes) -> str:
    """Returns git's error message as one line, without its hints."""
    lines = stderr.decode("utf-8", "replace").splitlines()
    told = [line.strip() for line in lines if line.strip() and not line.startswith("hint:")]
    text = clean(" ".join(told)).removeprefix("fatal: ").removeprefix("error: ")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
