"""Runs the program as a process without a screen, with its own folder and home."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Answer
from tests.support.jail import flags_of_auto
from tests.support.waiting import LIMIT


@dataclass(frozen=True, slots=True)
class Run:
    """The output of the program, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


_OURS = ("OPENAI", "ANTHROPIC", "KEEN")


class Program:
    """Runs `keen-tui` in its own folder, with its own home."""

    def __init__(self, folder: Path) -> None:
        self.workspace = folder / "work"
        self.workspace.mkdir()
        self.home = folder / "home"
        self.home.mkdir()
        self.stdout = asyncio.subprocess.PIPE

    async def start(
        self, *arguments: str, stdin: int = asyncio.subprocess.DEVNULL, **environ: str
    ) -> asyncio.subprocess.Process:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            "keen_tui",
            *arguments,
            *(flags_of_auto() if "auto" in arguments else ()),
            cwd=self.workspace,
            env=kept | {"KEEN_HOME": str(self.home)} | environ,
            stdin=stdin,
            stdout=self.stdout,
            stderr=asyncio.subprocess.PIPE,
        )

    async def run(self, *arguments: str, stdin: str = "", **environ: str) -> Run:
        process = await self.start(*arguments, stdin=asyncio.subprocess.PIPE, **environ)
        async with asyncio.timeout(LIMIT * 2):
            out, err = await process.communicate(stdin.encode())
        assert process.returncode is not None
        assert b"Traceback" not in err
        return Run(process.returncode, out.decode(), err.decode())

    async def ask(self, script: Sequence[Answer], *arguments: str, stdin: str = "") -> Run:
        async with ModelServer(script) as server:
            flags = ("--base-url", server.base_url, "--model", "scripted", *arguments)
            return await self.run(*flags, stdin=stdin)
