"""Recorded streams of real providers, which are beside the project and not a part of it."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

RECORDED = Path(__file__).parents[3] / "shared" / "recorded"

needs_recorded = pytest.mark.skipif(not RECORDED.is_dir(), reason="no recorded streams beside the project")


@dataclass(frozen=True)
class Recorded:
    """One stream, and what a correct client reads from it."""

    file: str
    protocol: str
    text: str
    stop_reason: str | None
    thinking_chars: int
    tool_calls: list[dict[str, Any]]

    @property
    def body(self) -> bytes:
        return (RECORDED / self.file).read_bytes()


def recorded_streams(protocols: Collection[str]) -> list[Recorded]:
    """The streams of some protocols from the manifest; none if there is no manifest."""
    if not RECORDED.is_dir():
        return []
    names = Recorded.__dataclass_fields__
    entries = json.loads((RECORDED / "manifest.json").read_text(encoding="utf-8"))
    return [
        Recorded(**{name: entry[name] for name in names})
        for entry in entries
        if entry["protocol"] in protocols
    ]
