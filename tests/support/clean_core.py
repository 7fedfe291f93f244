"""Imports the core in a fresh process and fails if a screen library or an SDK is imported with it.

Run by `make check`, and by tests/unit/test_clean_core.py.
"""

from __future__ import annotations

import subprocess
import sys

CORE = (
    "keen_tui.agent.session",
    "keen_tui.wiring.sessions",
    "keen_tui.demo.model_server",
    "keen_tui.cli",
    "keen_tui.api",
    "keen_tui.frontends.line.run",
    "keen_tui.demo.plain",
)
HEAVY = (
    "textual",
    "rich",
    "openai",
    "anthropic",
    "pydantic",
    "httpx2",
    "acp",
    "mcp",
    "mcp_types",
    "yaml",
    "pygments",
    "pyromark",
    "markdown_it",
)

_PROBE = """\
import importlib, sys
for name in {core!r}:
    importlib.import_module(name)
print(*sorted({heavy!r} & {{name.split(".")[0] for name in sys.modules}}))
"""


def heavy_modules(*imported: str) -> list[str]:
    """The heavy packages that importing these modules brings in, in a clean process."""
    probe = _PROBE.format(core=imported, heavy=set(HEAVY))
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    return done.stdout.split()


def main() -> int:
    """Print the heavy packages; exit code 1 if there are any."""
    found = heavy_modules(*CORE)
    print(f"the core imports {', '.join(found)}" if found else "the core imports no screen and no SDK")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
