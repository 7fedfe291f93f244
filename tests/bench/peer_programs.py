"""The programs that `peers.py` compares. Each has a home of its own that holds its configuration: it talks to
the scripted server, and fetches nothing from elsewhere and sends nothing there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import keen_tui
from tests.bench import process_tree
from tests.bench.answering import AnsweringTerminal
from tests.bench.programs import BARE, PACKAGE, Place, keen, place

_VERSION = re.compile(r"\d+\.\d+\.\d+\S*")

_VIBE = """\
active_model = "scripted"
enable_telemetry = false
enable_update_checks = false
enable_auto_update = false
enable_connectors = false

[experiments]
enable = false

[[providers]]
name = "scripted"
api_base = "{base_url}"
api_style = "openai"
backend = "generic"

[models.scripted]
name = "scripted"
provider = "scripted"
alias = "scripted"
max_context_length = 200000
"""

_CODEX = """\
model = "gpt-6-sol"
model_provider = "scripted"
check_for_update_on_startup = false
disable_paste_burst = true

[model_providers.scripted]
name = "scripted"
base_url = "{base_url}"
wire_api = "responses"

[analytics]
enabled = false

[feedback]
enabled = false

[features]
plugins = false
remote_plugin = false
apps = false

[tui]
show_tooltips = false

[projects."{work}"]
trust_level = "trusted"
"""
"""The model is one that it knows, so that it doesn't warn. A script types faster than a person: without
`disable_paste_burst` its Enter would be a line break in what looks like a paste."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A program to measure. `command` and `environ` are for a place and the base URL of the server; the
    command may write configuration files there first."""

    name: str
    command: Callable[[Place, str], tuple[str, ...]]
    environ: Callable[[Place], Mapping[str, str]]

    @contextmanager
    def running(self, where: Place, base_url: str) -> Iterator[AnsweringTerminal]:
        """The program, just started. It is ended with everything that it has started."""
        environ = {"HOME": str(where.home), "PYTHONDONTWRITEBYTECODE": "", **self.environ(where)}
        with AnsweringTerminal(self.command(where, base_url), where.work, environ) as program:
            try:
                yield program
            finally:
                process_tree.end(program.pid)


@dataclass(frozen=True, slots=True)
class Known:
    """Another agent that may be on this machine, found by the variable that names its executable, or by
    `executable` on PATH."""

    name: str
    executable: str
    variable: str
    command: Callable[[str, Place, str], tuple[str, ...]]
    environ: Callable[[Place], Mapping[str, str]]

    def found(self) -> Peer | None:
        """The program with its version; None if it isn't there.

        Raises:
            FileNotFoundError: the variable is set, but names no executable.
        """
        named = os.environ.get(self.variable, "")
        path = shutil.which(named or self.executable)
        if path is None and named:
            raise FileNotFoundError(f"{self.variable} names {named}, which can't be run.")
        if path is None:
            return None
        executable = str(Path(path).absolute())
        name = f"{self.name} {_version(executable)}"
        return Peer(name, lambda where, url: self.command(executable, where, url), self.environ)


def _vibe(executable: str, where: Place, base_url: str) -> tuple[str, ...]:
    (where.home / "config.toml").write_text(_VIBE.format(base_url=base_url))
    return (executable,)


def _codex(executable: str, where: Place, base_url: str) -> tuple[str, ...]:
    """Without the server in the background that several terminals share: it would not be a child of this
    process, and each new home would get a copy of the program for it."""
    configuration = _CODEX.format(base_url=base_url, work=where.work.resolve())
    (where.home / "config.toml").write_text(configuration)
    (where.folder / "tmp").mkdir(exist_ok=True)
    return (executable, "--no-daemon")


KEEN = Peer(
    f"Keen TUI {keen_tui.__version__}",
    lambda _, base_url: keen(base_url),
    lambda where: {"KEEN_HOME": str(where.home), "PYTHONPATH": str(PACKAGE), "OPENAI_API_KEY": ""},
)
BARE_APP = Peer("bare Textual app", lambda *_: BARE, lambda _: {"PYTHONPATH": str(PACKAGE)})

OTHERS = (
    Known("Mistral Vibe", "vibe", "PEER_VIBE", _vibe, lambda where: {"VIBE_HOME": str(where.home)}),
    Known(
        "Codex",
        "codex",
        "PEER_CODEX",
        _codex,
        # It does without its helpers if its home is in the folder for temporary files.
        lambda where: {"CODEX_HOME": str(where.home), "TMPDIR": str(where.folder / "tmp")},
    ),
)


def _version(executable: str) -> str:
    """What the program says its version is, or "of unknown version"."""
    with place() as new:
        environ = os.environ | {"HOME": str(new.home)}
        said = subprocess.run(
            (executable, "--version"), env=environ, capture_output=True, text=True, timeout=60, check=False
        )
    found = _VERSION.search(said.stdout)
    return found[0] if found else "of unknown version"
