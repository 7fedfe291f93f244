"""The front end for editors: the SDK's client, real pipes, the real program, a scripted model."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.demo.script import Call, Reply, Say, Think
from tests.support.acp import EditorProgram


@pytest.fixture
def program(tmp_path: Path) -> EditorProgram:
    return EditorProgram(tmp_path)


async def test_a_prompt_is_answered_with_text_and_reasoning(program: EditorProgram) -> None:
    async with program.start([Reply([Think("Let me see."), Say("Hello there.")])]) as running:
        session = await running.new()
        answer = await running.say(session, "Hi")
        assert answer.stop_reason == "end_turn"
        assert running.editor.said == "Hello there."
        thoughts = running.editor.of("agent_thought_chunk")
        assert "".join(each.content.text for each in thoughts) == "Let me see."
        assert answer.usage is not None and answer.usage.input_tokens == 100
        assert answer.field_meta and answer.field_meta["keen/turn"] == 1


async def test_an_edit_is_a_call_with_a_whole_diff(program: EditorProgram) -> None:
    (program.workspace / "a.py").write_text("one\ntwo\nthree\n")
    edit = Call("edit_file", {"path": "a.py", "old_text": "two", "new_text": "2"}, id="c1")
    async with program.start([Reply([edit]), Reply([Say("Done.")])], "--mode", "auto-edit") as running:
        session = await running.new()
        await running.say(session, "change it")
        call = running.editor.calls["c1"]
        assert (call["kind"], call["status"], call["title"]) == ("edit", "completed", "Edit a.py")
        (diff,) = (each for each in call["content"] if each["type"] == "diff")
        assert diff["path"] == str(program.workspace / "a.py")
        assert (diff["oldText"], diff["newText"]) == ("one\ntwo\nthree\n", "one\n2\nthree\n")
        assert call["locations"][0]["path"] == str(program.workspace / "a.py")
