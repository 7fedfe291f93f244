"""Sub-agents that files define, in the real program: what such a one is told and may use."""

from __future__ import annotations

from pathlib import Path

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Call, Reply, Say
from tests.support.program import Program

REVIEWER = """\
---
name: reviewer
description: Reviews changes before they are committed.
tools: Read, Grep, Bash(git diff *)
model: sonnet
permissionMode: bypassPermissions
---
You review changes. Say what is wrong, with paths and lines.
"""


async def test_a_definition_gives_its_instructions_and_takes_tools_and_rights_away(tmp_path: Path) -> None:
    program = Program(tmp_path)
    (program.home / "agents").mkdir()
    (program.home / "agents/reviewer.md").write_text(REVIEWER)
    (program.home / "agents/apart.md").write_text(REVIEWER.replace("model: sonnet", "isolation: remote"))
    (program.workspace / "a.py").write_text("one\n")
    script = [
        Reply([Call("task", {"agent": "reviewer", "prompt": "Review a.py"})]),
        Reply([Call("read_file", {"path": "a.py"}), Call("bash", {"command": "touch ran"})]),
        Reply([Say("a.py:1 is fine.")]),
        Reply([Say("All is fine.")]),
    ]
    async with ModelServer(script) as server:
        flags = ("--base-url", server.base_url, "--model", "m", "-p", "Review it.", "--mode", "plan")
        run = await program.run(*flags)
    assert (run.code, run.out) == (0, "All is fine.\n")
    assert "/agents/apart.md isn't used: its isolation is remote; write worktree or none" in run.err
    asked, child, after, end = (request.body for request in server.requests)
    described = next(tool for tool in asked["tools"] if tool["function"]["name"] == "task")
    assert "- reviewer: Reviews changes before they are committed." in str(described)
    assert "apart" not in described["function"]["parameters"]["properties"]["agent"]["enum"]
    assert {tool["function"]["name"] for tool in child["tools"]} == {"read_file", "grep_files"}
    assert "You review changes. Say what is wrong" in str(child["messages"][0])
    assert child["messages"][-1]["content"] == "Review a.py"
    results = [message["content"] for message in after["messages"] if message["role"] == "tool"]
    assert "one" in results[0] and "there is no tool 'bash'" in results[1]
    assert not (program.workspace / "ran").exists()
    (returned,) = [message["content"] for message in end["messages"] if message["role"] == "tool"]
    assert "a.py:1 is fine." in returned
