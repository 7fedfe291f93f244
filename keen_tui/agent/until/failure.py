"""Tells whether two failures of a check are the same one."""

from __future__ import annotations

import hashlib
import re

from keen_tui.domain.messages import ToolResult

_PASSING = re.compile(
    r"\b\d+(?:[.,]\d+)? ?(?:ns|µs|us|ms|s|secs?|seconds?|mins?|minutes?)\b"  # how long it took
    r"|\b\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\b"  # what time it was
    r"|\b\d{4}-\d{2}-\d{2}\b"
    r"|\b0x[0-9a-fA-F]+\b"  # where an object lay in memory
)
"""What differs from run to run although nothing has changed."""


def fingerprint(result: ToolResult) -> str:
    """A short text that two results share if the exit code and the output are the same, apart from times and
    addresses in memory."""
    words = _PASSING.sub("", f"{result.exit_code}\n{result.text}")
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:16]
