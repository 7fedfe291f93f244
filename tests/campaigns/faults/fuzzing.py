"""The tests of tests/fuzz with many examples, a file at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.campaigns.faults.promises import Findings
from tests.campaigns.faults.table import FUZZED

_FOLDER = Path(__file__).parents[2] / "fuzz"


def names() -> list[str]:
    """The cases, as `--only` takes them."""
    return [f"fuzz/{name}" for name in FUZZED if (_FOLDER / f"test_{name}.py").exists()]


def fuzzed(case: str, *, long: bool) -> Findings:
    """Run one; what it found stands in the words, with the line that plays the very example again."""
    name = case.partition("/")[2]
    environ = {**os.environ, **({"KEEN_LONG_TESTS": "1"} if long else {})}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        str(_FOLDER / f"test_{name}.py"),
    ]
    ran = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    findings = Findings()
    for promise in FUZZED[name]:
        crash = ran.stderr[:3_000]  # which says first what it was
        words = f"{ran.stdout[-3_000:]}{crash}\nexit code {ran.returncode}"
        findings.check(promise, ran.returncode == 0, words)
    return findings
