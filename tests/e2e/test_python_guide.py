"""The program in docs/guide/python.md is run as it stands there."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Answer, Break, Call, Reply, Say
from keen_tui.demo.wires import seen
from tests.support.references import ROOT
from tests.support.waiting import LIMIT

LOOK = Reply([Call("price", {"item": "apple", "amount": 3})])
WRITE = Reply([Call("write_file", {"path": "prices.txt", "content": "9 euros\n"})])
REMOVE = Reply([Call("bash", {"command": "rm -rf ."})])
DONE = Reply([Say("Three apples are 9 euros.")])
CUT = Reply([Say("Three apples")], broken=Break("reset"))


def program() -> str:
    """The first program of the page, which waits less long before it retries."""
    guide = (ROOT / "docs" / "guide" / "python.md").read_text()
    (first, *_) = re.findall(r"^```python\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    assert "asyncio.sleep(5)" in first
    return str(first).replace("asyncio.sleep(5)", "asyncio.sleep(0)")


@pytest.mark.parametrize(
    "script", [(LOOK, WRITE, REMOVE, DONE), (LOOK, WRITE, REMOVE, CUT, DONE)], ids=["done", "cut"]
)
async def test_the_program_of_the_guide_does_what_it_says(tmp_path: Path, script: tuple[Answer, ...]) -> None:
    for name in ("work", "home"):
        (tmp_path / name).mkdir()
    (tmp_path / "work" / "shop.py").touch()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI", "KEEN"))}
    async with ModelServer(script) as server:
        (tmp_path / "home" / "settings.toml").write_text(
            f'base_url = "{server.base_url}"\nsandbox = false\nretry_attempts = 1\n'
        )
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-W", "error", "-c", program(),
            cwd=tmp_path / "work", env=kept | {"KEEN_HOME": str(tmp_path / "home")},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        async with asyncio.timeout(LIMIT):
            out, err = await process.communicate()
        results = [each.text for each in seen(server.requests[-1]) if each.role == "tool"]
    assert (process.returncode, err.decode()) == (0, "")
    assert (tmp_path / "work" / "prices.txt").read_text() == "9 euros\n"
    assert (tmp_path / "work" / "shop.py").exists()
    assert results[0] == "9 euros for 3 apple"
    assert "Only edits are allowed here." in results[2]
    printed = out.decode()
    assert "[price item: apple, amount: 3: 1 line]" in printed
    assert "+9 euros" in printed
    assert ("changed: prices.txt" in printed) == (CUT not in script)
