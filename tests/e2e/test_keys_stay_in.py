"""An API key that stands in a file of the workspace goes nowhere (promise R12)."""

from __future__ import annotations

import json
from pathlib import Path

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Call, Reply, Say
from tests.support.program import Program

KEY = "made-up-value-of-a-key"


async def test_no_tool_hands_out_a_key_that_is_known(tmp_path: Path) -> None:
    program = Program(tmp_path)
    (program.workspace / "notes.py").write_text(f"KEY = '{KEY}'\nOTHER = 1\n")
    calls = [
        Call("read_file", {"path": "notes.py"}),
        Call("grep_files", {"pattern": "KEY"}),
        Call("bash", {"command": "cat notes.py; printf made-up-value-; sleep 0.3; echo of-a-key; exit 3"}),
        Call("edit_file", {"path": "notes.py", "old_text": "KEY = 'made-up'\nOTHER = 1", "new_text": ""}),
        Call("edit_file", {"path": "notes.py", "old_text": "OTHER = 1", "new_text": "OTHER = 2"}),
    ]
    async with ModelServer([Reply(calls), Reply([Say("Done.")])]) as server:
        flags = ("--base-url", server.base_url, "--model", "m", "-p", "hi", "--mode", "auto")
        run = await program.run(*flags, "--output", "stream-json", SOME_API_KEY=KEY)
        sent = server.requests[1].body["messages"]
    assert run.code == 0
    results = [message["content"] for message in sent if message["role"] == "tool"]
    assert len(results) == len(calls)
    assert sum("[key]" in result for result in results) == 4
    holding = [
        path for path in program.home.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()
    ]
    assert {path.parent.name for path in holding} == {"contents"}  # what undo puts back has to be whole
    assert KEY not in json.dumps(sent) + run.out + run.err
    assert (program.workspace / "notes.py").read_text() == f"KEY = '{KEY}'\nOTHER = 2\n"
