"""Processes of this machine, found by what they were called with: in a sandbox their numbers are others."""

from __future__ import annotations

from pathlib import Path


def called_with(words: str) -> list[int]:
    """The processes whose command line holds these words, one space between them."""
    return [int(each.name) for each in Path("/proc").glob("[0-9]*") if words in _command_line(each)]


def _command_line(process: Path) -> str:
    try:
        return (process / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""
