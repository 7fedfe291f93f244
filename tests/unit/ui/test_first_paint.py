"""What must not be loaded before the first paint."""

from __future__ import annotations

import subprocess
import sys


def test_the_transcript_loads_no_parser_and_no_highlighter() -> None:
    code = (
        "import sys, keen_tui.frontends.tui.transcript.widget, keen_tui.frontends.tui.tool_views;"
        "print({'pygments', 'pyromark', 'markdown_it'} & set(sys.modules))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"
