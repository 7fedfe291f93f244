"""What happens in a turn, as an editor sees it: calls, questions, plans, stops, broken turns."""

from __future__ import annotations

import asyncio
import base64
import sys
from pathlib import Path

import pytest
from acp.exceptions import RequestError
from acp.helpers import embedded_text_resource, image_block, resource_block, resource_link_block, text_block
from acp.schema import (
    ClientCapabilities,
    ElicitationCapabilities,
    ElicitationFormCapabilities,
    EnvVariable,
    McpServerStdio,
)

from keen_tui.demo.script import Answer, Break, Call, HttpAnswer, NoAnswer, Reply, Say
from keen_tui.providers.registry import APIS
from tests.support.acp import WITH_FILES, EditorProgram
from tests.support.images import png
from tests.support.mcp import PROGRAMS
from tests.support.waiting import one_round

WRITE = Call("write_file", {"path": "new.txt", "content": "hello\n"}, id="w1")
WITH_FORMS = ClientCapabilities(elicitation=ElicitationCapabilities(form=ElicitationFormCapabilities()))


@pytest.fixture
def program(tmp_path: Path) -> EditorProgram:
    return EditorProgram(tmp_path)


@pytest.mark.parametrize("api", APIS)
async def test_a_write_asks_with_its_diff_and_is_made_after_a_yes(program: EditorProgram, api: str) -> None:
    script = [Reply([Call("write_file", {"path": "new.txt", "content": "hello\n"})]), Reply([Say("Made.")])]
    async with program.start(script, "--api", api) as running:
        session = await running.new()
        running.editor.answers = ["yes"]
        answer = await running.say(session, "make it")
        assert answer.stop_reason == "end_turn"
        ((call, options),) = running.editor.asked
        assert [option.option_id for option in options] == ["yes", "grant", "no", "stop"]
        assert [option.kind for option in options] == [
            "allow_once",
            "allow_always",
            "reject_once",
            "reject_once",
        ]
        assert options[0].name == "Yes, this once"
        assert call.title == "Write new.txt"
        shown = running.editor.calls[call.tool_call_id]
        (diff,) = (each for each in shown["content"] if each["type"] == "diff")
        assert (diff.get("oldText"), diff["newText"]) == (None, "hello\n")
        assert (program.workspace / "new.txt").read_text() == "hello\n"
        assert running.editor.said == "Made."


async def test_a_no_denies_the_call_and_the_turn_goes_on(program: EditorProgram) -> None:
    async with program.start([Reply([WRITE]), Reply([Say("I won't.")])]) as running:
        session = await running.new()
        running.editor.answers = ["no"]
        answer = await running.say(session, "make it")
        assert answer.stop_reason == "end_turn"
        assert not (program.workspace / "new.txt").exists()
        call = running.editor.calls["w1"]
        assert (call["status"], call["_meta"]["keen/outcome"]) == ("failed", "denied")


async def test_a_yes_for_the_session_asks_once(program: EditorProgram) -> None:
    other = Call("write_file", {"path": "other.txt", "content": "x"}, id="w2")
    async with program.start([Reply([WRITE]), Reply([other]), Reply([Say("Both.")])]) as running:
        session = await running.new()
        running.editor.answers = ["grant"]
        await running.say(session, "make both")
        assert len(running.editor.asked) == 1
        assert (program.workspace / "other.txt").exists()


async def test_the_reason_of_a_no_is_asked_by_a_form(program: EditorProgram) -> None:
    async with program.start([Reply([WRITE]), Reply([Say("Ok.")])], capabilities=WITH_FORMS) as running:
        session = await running.new()
        running.editor.answers, running.editor.filled = ["no"], [{"words": "use another name"}]
        await running.say(session, "make it")
        assert "use another name" in str(running.server.requests[-1].body)


async def test_a_cancelled_question_stops_the_turn(program: EditorProgram) -> None:
    async with program.start([Reply([WRITE])]) as running:
        session = await running.new()
        running.editor.cancel_questions()
        answer = await running.say(session, "make it")
        assert answer.stop_reason == "cancelled"
        assert not (program.workspace / "new.txt").exists()


async def test_cancel_in_the_middle_of_a_call_is_a_stop_reason(program: EditorProgram) -> None:
    call = Call("bash", {"command": "echo begun; sleep 600"}, id="b1")
    async with program.start([Reply([call])], "--mode", "auto", "--no-sandbox") as running:
        session = await running.new()
        asked = asyncio.create_task(running.say(session, "wait"))
        await running.until(lambda editor: "begun" in str(editor.calls.get("b1", {}).get("content")))
        await running.agent.cancel(session_id=session.session_id)
        answer = await asked
        assert answer.stop_reason == "cancelled"
        assert answer.field_meta and answer.field_meta["keen/end"] == "incomplete"
        assert running.editor.calls["b1"]["status"] == "failed"
        assert "/retry continues from the last result" in running.editor.said


async def test_cancel_right_behind_the_prompt(program: EditorProgram) -> None:
    async with program.start([NoAnswer("stall"), Reply([Say("Later.")])]) as running:
        session = await running.new()
        asked = asyncio.create_task(running.say(session, "hi"))
        await one_round()
        await running.agent.cancel(session_id=session.session_id)
        assert (await asked).stop_reason == "cancelled"


async def test_cancel_while_a_permission_is_asked(program: EditorProgram) -> None:
    async with program.start([Reply([WRITE]), Reply([Say("Again.")])]) as running:
        session = await running.new()
        asked = asyncio.create_task(running.say(session, "make it"))
        await running.until(lambda editor: editor.asked)
        await running.agent.cancel(session_id=session.session_id)
        assert (await asked).stop_reason == "cancelled"
        running.editor.cancel_questions()
        assert (await running.say(session, "/retry")).stop_reason == "end_turn"


async def test_an_incomplete_turn_says_what_was_kept_and_retry_continues_it(program: EditorProgram) -> None:
    read = Call("read_file", {"path": "a.txt"}, id="r1")
    (program.workspace / "a.txt").write_text("content\n")
    refused = HttpAnswer(400, {"error": {"message": "no such thing"}})
    script: list[Answer] = [Reply([Say("I look."), read]), refused, Reply([Say("It says content.")])]
    async with program.start(script) as running:
        session = await running.new()
        answer = await running.say(session, "what is in it?")
        assert answer.stop_reason == "end_turn"
        assert answer.field_meta and answer.field_meta["keen/end"] == "incomplete"
        assert answer.field_meta["keen/keptCalls"] == 1
        assert "Turn 1 incomplete" in running.editor.said
        assert "Kept: 1 call" in running.editor.said
        assert (await running.say(session, "/retry")).stop_reason == "end_turn"
        assert running.editor.said.endswith("It says content.")
        assert len([each for each in running.editor.of("tool_call") if each.tool_call_id == "r1"]) == 1


async def test_discard_asks_and_drops_the_turn(program: EditorProgram) -> None:
    (program.workspace / "a.txt").write_text("content\n")
    refused = HttpAnswer(400, {"error": {"message": "no"}})
    script: list[Answer] = [Reply([Call("read_file", {"path": "a.txt"})]), refused]
    async with program.start(script) as running:
        session = await running.new()
        await running.say(session, "read it")
        running.editor.answers = ["discard"]
        await running.say(session, "/discard")
        (_, options) = running.editor.asked[-1]
        assert [option.option_id for option in options] == ["keep", "retry", "discard"]
        assert "abandoned" in running.editor.said


async def test_automatic_retries_are_visible(program: EditorProgram) -> None:
    script = [Reply([Say("Half")], broken=Break("reset")), Reply([Say("Whole.")])]
    async with program.start(script) as running:
        session = await running.new()
        await running.say(session, "hi")
        assert "Trying again" in running.editor.said
        assert "Ignore the reply so far" in running.editor.said
        assert running.editor.said.endswith("Whole.")


async def test_output_of_a_command_is_shown_while_it_runs_and_after(program: EditorProgram) -> None:
    call = Call("bash", {"command": "echo one; echo two >&2; exit 3"}, id="b1")
    flags = ("--mode", "auto", "--no-sandbox")
    async with program.start([Reply([call]), Reply([Say("It failed.")])], *flags) as running:
        session = await running.new()
        await running.say(session, "run it")
        call_ = running.editor.calls["b1"]
        assert (call_["kind"], call_["title"]) == ("execute", "echo one; echo two >&2; exit 3")
        assert "one\ntwo" in call_["content"][0]["content"]["text"]
        assert (call_["status"], call_["_meta"]["keen/exitCode"]) == ("failed", 3)


async def test_terminals_of_the_editor_show_output(program: EditorProgram) -> None:
    call = Call("bash", {"command": "echo one"}, id="b1")
    capabilities = ClientCapabilities(field_meta={"terminal_output": True})
    flags = ("--mode", "auto", "--no-sandbox")
    script = [Reply([call]), Reply([Say("Done.")])]
    async with program.start(script, *flags, capabilities=capabilities) as running:
        session = await running.new()
        await running.say(session, "run it")
        begun = running.editor.of("tool_call")[0]
        assert begun.field_meta["terminal_info"]["terminal_id"] == "b1"
        metas = [each.field_meta or {} for each in running.editor.of("tool_call_update")]
        assert "one" in "".join(meta.get("terminal_output", {}).get("data", "") for meta in metas)
        assert metas[-1]["terminal_exit"]["exit_code"] == 0


async def test_the_todo_list_is_a_plan(program: EditorProgram) -> None:
    items = [{"text": "look", "status": "done"}, {"text": "change", "status": "in_progress"}]
    script = [Reply([Call("todo_write", {"items": items})]), Reply([Say("Ok.")])]
    async with program.start(script) as running:
        session = await running.new()
        await running.say(session, "plan")
        (plan,) = running.editor.of("plan")
        assert [(entry.content, entry.status) for entry in plan.entries] == [
            ("look", "completed"),
            ("change", "in_progress"),
        ]


ASK = Call(
    "ask_user",
    {"question": "Which one?", "choices": [{"label": "the first"}, {"label": "the second"}]},
    id="q1",
)


async def test_a_question_is_a_form_where_the_editor_has_forms(program: EditorProgram) -> None:
    async with program.start([Reply([ASK]), Reply([Say("Ok.")])], capabilities=WITH_FORMS) as running:
        session = await running.new()
        running.editor.filled = [{"answer": "1"}]
        await running.say(session, "ask me")
        (form,) = running.editor.forms
        options = form["requestedSchema"]["properties"]["answer"]["oneOf"]
        assert [each["title"] for each in options][:2] == ["The first", "The second"]
        assert "the second" in str(running.server.requests[-1].body)


async def test_a_question_is_a_permission_elsewhere(program: EditorProgram) -> None:
    async with program.start([Reply([ASK]), Reply([Say("Ok.")])]) as running:
        session = await running.new()
        running.editor.answers = ["0"]
        await running.say(session, "ask me")
        ((call, options),) = running.editor.asked
        assert call.tool_call_id == "q1"
        assert options[-1].name == "Decline to answer"
        assert "the first" in str(running.server.requests[-1].body)


async def test_files_are_read_and_written_by_the_editor(program: EditorProgram) -> None:
    path = program.workspace / "a.py"
    path.write_text("saved\n")
    script = [
        Reply([Call("read_file", {"path": "a.py"}, id="r1")]),
        Reply([Call("edit_file", {"path": "a.py", "old_text": "unsaved", "new_text": "new"}, id="e1")]),
        Reply([Say("Done.")]),
    ]
    async with program.start(script, "--mode", "auto-edit", capabilities=WITH_FILES) as running:
        session = await running.new()
        running.editor.buffers[str(path)] = "unsaved\n"
        await running.say(session, "change it")
        assert running.editor.written == [(str(path), "new\n")]
        assert "unsaved" in str(running.server.requests[1].body)
        assert running.editor.calls["e1"]["status"] == "completed"
        running.editor.answers = ["yes"]
        await running.say(session, "/undo")
        assert path.read_text() == "unsaved\n"


async def test_a_change_in_the_editor_since_it_was_read_is_noticed(program: EditorProgram) -> None:
    path = program.workspace / "a.py"
    path.write_text("saved\n")
    edit = Call("edit_file", {"path": "a.py", "old_text": "saved", "new_text": "new"}, id="e1")
    script = [Reply([Call("read_file", {"path": "a.py"})]), Reply([edit]), Reply([Say("Done.")])]
    async with program.start(script, capabilities=WITH_FILES) as running:
        session = await running.new()
        asked = asyncio.create_task(running.say(session, "change it"))
        await running.until(lambda editor: editor.asked)
        running.editor.buffers[str(path)] = "saved by me\n"
        running.editor.answers = ["yes"]
        running.editor.cancel_questions()
        await asked
        assert not running.editor.written


async def test_images_and_files_go_with_a_prompt(program: EditorProgram) -> None:
    async with program.start([Reply([Say("Seen.")])]) as running:
        session = await running.new()
        picture = base64.b64encode(png(4, 4)).decode()
        (program.workspace / "b.py").write_text("b\n")
        await running.agent.prompt(
            session_id=session.session_id,
            prompt=[
                text_block("Look at"),
                image_block(picture, "image/png"),
                resource_link_block("b.py", f"file://{program.workspace}/b.py"),
                resource_block(embedded_text_resource(f"file://{program.workspace}/c.py", "c = 1\n")),
            ],
        )
        sent = str(running.server.requests[0].body)
        assert "@b.py" in sent
        assert "c = 1" in sent
        assert "data:image" in sent


async def test_servers_of_the_editor_are_used(program: EditorProgram) -> None:
    server = McpServerStdio(
        name="my tools",
        command=sys.executable,
        args=[str(PROGRAMS / "talkative.py")],
        env=[EnvVariable(name="CALLS_FILE", value=str(program.workspace / "calls.txt"))],
    )
    call = Call("mcp__my_tools__echo", {"text": "hello server"}, id="m1")
    async with program.start([Reply([call]), Reply([Say("Ok.")])]) as running:
        session = await running.agent.new_session(cwd=str(program.workspace), mcp_servers=[server])
        while "my_tools: ready" not in running.editor.said:
            await running.say(session, "/mcp")
        running.editor.answers = ["yes"]
        await running.say(session, "echo it")
        assert running.editor.calls["m1"]["status"] == "completed"
        assert "hello server" in str(running.editor.calls["m1"]["content"])


async def test_a_wrong_image_is_refused_with_a_sentence(program: EditorProgram) -> None:
    async with program.start() as running:
        session = await running.new()
        with pytest.raises(RequestError, match="isn't base64"):
            await running.agent.prompt(
                session_id=session.session_id, prompt=[image_block("not base64!", "image/png")]
            )


async def test_a_call_lists_what_its_sub_agent_does(program: EditorProgram) -> None:
    (program.workspace / "a.txt").write_text("one\n")
    task = {"agent": "explore", "prompt": "count the files"}
    steps = [Call("read_file", {"path": "a.txt"}), Call("read_file", {"path": "b`.txt"})]
    script = [
        Reply([Call("task", task, id="t1")]),
        Reply(steps[:1]),
        Reply(steps[1:]),
        Reply([Say("There is one.")]),
        Reply([Say("Done.")]),
    ]
    async with program.start(script) as running:
        await running.say(await running.new(), "ask it")
        updates = [each for each in running.editor.of("tool_call_update") if each.tool_call_id == "t1"]
        texts = [each.content[0].content.text for each in updates if each.content]
        assert texts[0] == "Sub-agent explore, 1 call:\n\n- `Read a.txt` …"
        listed = "Sub-agent explore, 2 calls:\n\n- `Read a.txt`\n- ``Read b`.txt``: failed"
        assert texts[-2:] == [listed, listed]
        _, report = running.editor.calls["t1"]["content"]
        assert report["content"]["text"] == "There is one."


async def test_a_turn_that_is_stopped_in_a_call_loses_no_words(program: EditorProgram) -> None:
    wait = Call("bash", {"command": "touch begun; sleep 600"})
    async with program.start([Reply([Say("I wait."), wait])], "--mode", "auto") as running:
        session = await running.new()
        asked = asyncio.create_task(running.say(session, "wait"))
        await running.until(lambda _: (program.workspace / "begun").exists())
        await running.agent.cancel(session_id=session.session_id)
        await asked
        assert "Turn 1 incomplete" in running.editor.said
        assert "not carried over" not in running.editor.said
