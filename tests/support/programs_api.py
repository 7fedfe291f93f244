"""A folder, a home and a scripted server for programs that use Keen by `open_session`."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest

from keen_tui import KeenSession, RunningTurn, events, open_session
from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.wires import seen
from tests.support.agent import Script

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class ApiWorld:
    """Opens sessions in `folder`, which talk to `server`; `home` is Keen's."""

    folder: Path
    home: Path
    server: ModelServer

    def open(self, **arguments: Any) -> AbstractAsyncContextManager[KeenSession]:
        """A session. Commands run without a sandbox, and each step is tried once."""
        given = {"base_url": self.server.base_url, "model": "scripted", **arguments}
        given["settings"] = {"sandbox": False, "retry_attempts": 1, **given.get("settings", {})}
        return open_session(given.pop("folder", self.folder), **given)

    def results(self, number: int = -1) -> list[str]:
        """The texts of the tool results in a request."""
        return [each.text for each in seen(self.server.requests[number]) if each.role == "tool"]


@asynccontextmanager
async def api_world(folder: Path, patch: pytest.MonkeyPatch, script: Script) -> AsyncIterator[ApiWorld]:
    """A world without a key, a setting or a saved session."""
    for name in [name for name in os.environ if name.startswith(("OPENAI", "ANTHROPIC", "KEEN"))]:
        patch.delenv(name)
    world, home = folder / "work", folder / "home"
    for each in (world, home):
        each.mkdir()
    patch.setenv("KEEN_HOME", str(home))
    async with ModelServer(script) as server:
        yield ApiWorld(world, home, server)


async def all_of(turn: RunningTurn) -> list[events.Event]:
    """Every event of the turn."""
    return [event async for event in turn]


def of(kind: type[Found], found: Sequence[object]) -> list[Found]:
    """The events of that type."""
    return [event for event in found if isinstance(event, kind)]
