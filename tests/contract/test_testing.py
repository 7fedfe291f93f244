"""`keen_tui.testing`: a program tests what it does with Keen, without a network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from keen_tui import FunctionResult, open_session
from keen_tui.testing import Call, Reply, Say, ScriptedModel
from scripts import python_types

GUIDE = Path(__file__).parents[2] / "docs" / "guide"

RAISES = """
import asyncio, sys
from keen_tui import events, open_session, tool
from keen_tui.testing import Call, Reply, Say, ScriptedModel

@tool(reads_only=True)
def price(item: str) -> str:
    "The price of an item."
    raise KeyError(item)

async def main():
    async with ScriptedModel([Reply([Call("price", {"item": "tea"})]), Reply([Say("Hm.")])]) as model:
        async with open_session(sys.argv[1], tools=[price], **model.arguments) as session:
            async for event in session.ask("How much is tea?"):
                if isinstance(event, events.ToolFinished):
                    print(event.result.is_error, event.result.text)

asyncio.run(main())
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEEN_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path))


async def test_the_example_of_the_guide_passes(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (GUIDE / "testing.md").read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    (tmp_path / "work").mkdir()
    await names["test_the_price_is_written"](tmp_path / "work")


async def test_the_script_may_answer_by_what_the_model_has_seen(tmp_path: Path) -> None:
    model = ScriptedModel(lambda _: Reply([Say(model.seen()[-1].text.upper())]))
    async with model, open_session(tmp_path, **model.arguments) as session:
        assert (await session.ask("hello").end()).text == "HELLO"
    assert not [*tmp_path.rglob("*.jsonl")]


async def test_a_function_that_raises_is_an_error_result_and_prints_nothing(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    command = (sys.executable, "-c", RAISES, str(tmp_path / "work"))
    run = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ))
    assert "True Error: price failed (KeyError: 'tea')." in run.stdout
    assert run.stderr == ""


def test_the_page_of_types_is_the_docstrings() -> None:
    """`python -m scripts.python_types` writes it anew."""
    assert python_types.PAGE.read_text(encoding="utf-8") == python_types.text()


def test_a_result_is_made_of_its_text() -> None:
    assert FunctionResult("text").text == "text"
    assert Call("a").arguments == {}
