"""Sessions, options and commands, as an editor sees them; and what goes wrong."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest
from acp.exceptions import RequestError

from keen_tui.demo.script import Answer, Call, NoAnswer, Reply, Say
from tests.support.acp import EditorProgram
from tests.support.waiting import LIMIT


@pytest.fixture
def program(tmp_path: Path) -> EditorProgram:
    return EditorProgram(tmp_path)


async def test_the_commands_come_after_the_reply_to_session_new(program: EditorProgram) -> None:
    async with program.start() as running:
        session = await running.new()
        await running.until(lambda editor: editor.of("available_commands_update"))
        (id, update) = running.editor.updates[0]
        assert id == session.session_id
        names = {command.name for command in update.available_commands}
        assert {"retry", "discard", "memory", "context", "undo"} <= names
        assert not {"exit", "new", "model", "theme"} & names


async def test_modes_and_options_are_the_same_thing(program: EditorProgram) -> None:
    async with program.start() as running:
        session = await running.new()
        assert session.modes and session.modes.current_mode_id == "ask"
        id = session.session_id
        await running.agent.set_session_mode(session_id=id, mode_id="plan")
        await running.until(lambda editor: editor.of("current_mode_update"))
        answer = await running.agent.set_config_option(session_id=id, config_id="mode", value="auto-edit")
        assert answer
        values = {option.id: option.current_value for option in answer.config_options}
        assert values["mode"] == "auto-edit"
        await running.until(lambda editor: len(editor.of("current_mode_update")) == 2)
        answer = await running.agent.set_config_option(session_id=id, config_id="memory", value="full-trace")
        assert answer and answer.config_options[-1].current_value == "full-trace"
        with pytest.raises(RequestError, match="There is no mode 'wild'"):
            await running.agent.set_session_mode(session_id=id, mode_id="wild")


async def test_a_session_goes_on_in_another_program(program: EditorProgram) -> None:
    (program.workspace / "a.txt").write_text("content\n")
    script = [Reply([Call("read_file", {"path": "a.txt"}, id="r1")]), Reply([Say("It says content.")])]
    async with program.start(script) as running:
        session = await running.new()
        await running.say(session, "read a.txt")
    async with program.start([Reply([Say("Still here.")])]) as running:
        listed = await running.agent.list_sessions(cwd=str(program.workspace))
        assert [each.session_id for each in listed.sessions] == [session.session_id]
        assert listed.sessions[0].title == "read a.txt"
        await running.agent.load_session(
            cwd=str(program.workspace), session_id=session.session_id, mcp_servers=[]
        )
        assert [each.content.text for each in running.editor.of("user_message_chunk")] == ["read a.txt"]
        assert running.editor.said == "It says content."
        assert running.editor.calls["r1"]["status"] == "completed"
        await running.say(session.session_id, "and now?")
        assert "It says content." in str(running.server.requests[0].body)


async def test_what_began_in_the_editor_goes_on_in_the_terminal_and_back(
    program: EditorProgram, tmp_path: Path
) -> None:
    script = [Reply([Say("First.")]), Reply([Say("Second.")]), Reply([Say("Third.")])]
    async with program.start(script) as running:
        session = await running.new()
        await running.say(session, "one")
        await running.agent.close_session(session_id=session.session_id)
        terminal = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "keen_tui", "--base-url", running.server.base_url),
            *("--model", "scripted", "--continue", "-p", "two"),
            cwd=program.workspace,
            env=program.environ,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
        )
        out, _ = await terminal.communicate()
        assert out == b"Second.\n"
        await running.agent.load_session(
            cwd=str(program.workspace), session_id=session.session_id, mcp_servers=[]
        )
        assert running.editor.said.endswith("First.Second.")
        await running.say(session.session_id, "three")
        sent = str(running.server.requests[-1].body)
        assert "First." in sent and "Second." in sent


async def test_a_session_that_another_program_has_open_can_be_forked(program: EditorProgram) -> None:
    async with program.start([Reply([Say("First.")])]) as running:
        session = await running.new()
        await running.say(session, "one")
        async with program.connected(
            ("--base-url", running.server.base_url, "--model", "scripted"), None, running.server
        ) as other:
            with pytest.raises(RequestError, match="session/fork continues in a copy"):
                await other.agent.resume_session(cwd=str(program.workspace), session_id=session.session_id)
            await other.agent.fork_session(cwd=str(program.workspace), session_id=session.session_id)


async def test_usage_is_told_where_the_window_is_known(program: EditorProgram) -> None:
    (program.home / "settings.toml").write_text("context_window = 8000\n")
    async with program.start([Reply([Say("Hi.")])]) as running:
        session = await running.new()
        await running.say(session, "hi")
        await running.until(lambda editor: editor.of("usage_update"))
        assert running.editor.of("usage_update")[-1].size == 8000


async def test_resume_tells_nothing_of_the_past(program: EditorProgram) -> None:
    async with program.start([Reply([Say("First.")])]) as running:
        session = await running.new()
        await running.say(session, "one")
    async with program.start([Reply([Say("Second.")])]) as running:
        await running.agent.resume_session(cwd=str(program.workspace), session_id=session.session_id)
        assert running.editor.said == ""
        await running.say(session.session_id, "two")
        assert running.editor.said == "Second."
        assert "First." in str(running.server.requests[0].body)


async def test_fork_continues_in_a_copy(program: EditorProgram) -> None:
    async with program.start([Reply([Say("First.")]), Reply([Say("Copy.")])]) as running:
        session = await running.new()
        await running.say(session, "one")
        copy = await running.agent.fork_session(cwd=str(program.workspace), session_id=session.session_id)
        assert copy.session_id != session.session_id
        await running.say(copy.session_id, "two")
        assert "First." in str(running.server.requests[-1].body)


async def test_an_empty_session_is_resumed_loaded_and_forked(program: EditorProgram) -> None:
    async with program.start([Reply([Say("Ok.")])]) as running:
        session = await running.new()
        folder, id = str(program.workspace), session.session_id
        await running.agent.resume_session(cwd=folder, session_id=id)
        await running.agent.load_session(cwd=folder, session_id=id, mcp_servers=[])
        copy = await running.agent.fork_session(cwd=folder, session_id=id)
        assert copy.session_id != id
        await running.say(id, "hi")


async def test_an_empty_session_is_loaded_in_another_program(program: EditorProgram) -> None:
    async with program.start() as running:
        id = (await running.new()).session_id
    folder = str(program.workspace)
    async with program.start() as running:
        await running.agent.resume_session(cwd=folder, session_id=id)
    async with program.start([Reply([Say("Ok.")])]) as running:
        assert not (await running.agent.list_sessions(cwd=folder)).sessions
        await running.agent.load_session(cwd=folder, session_id=id, mcp_servers=[])
        await running.say(id, "hi")
        listed = await running.agent.list_sessions(cwd=folder)
        assert [each.session_id for each in listed.sessions] == [id]
    async with program.start() as running:
        await running.agent.load_session(cwd=folder, session_id=id, mcp_servers=[])
        assert running.editor.said == "Ok."


async def test_a_session_begins_where_its_id_cant_be_noted(program: EditorProgram) -> None:
    program.home.mkdir(exist_ok=True)
    (program.home / "promised").write_text("in the way")
    async with program.start([Reply([Say("Ok.")])]) as running:
        session = await running.new()
        await running.say(session, "hi")
        assert running.editor.said.endswith("Ok.")
        assert "Another program can't load this session before its first turn" in running.editor.said


async def test_several_sessions_are_open_at_once(program: EditorProgram) -> None:
    async with program.start([Reply([Say("A.")]), Reply([Say("B.")])]) as running:
        one, two = await running.new(), await running.new()
        await running.say(one, "a")
        await running.say(two, "b")
        said = {
            id: update.content.text
            for id, update in running.editor.updates
            if "message" in str(type(update)).lower()
        }
        assert said == {one.session_id: "A.", two.session_id: "B."}


async def test_a_closed_session_takes_no_prompt(program: EditorProgram) -> None:
    async with program.start() as running:
        session = await running.new()
        await running.agent.close_session(session_id=session.session_id)
        with pytest.raises(RequestError, match="is open here"):
            await running.say(session, "hi")


@pytest.mark.parametrize("command", ["/context", "/usage", "/help", "/skills", "/agents"])
async def test_commands_answer_in_the_session(program: EditorProgram, command: str) -> None:
    async with program.start() as running:
        session = await running.new()
        try:
            answer = await running.say(session, command)
            assert answer.stop_reason == "end_turn"
            assert running.editor.said
        except RequestError as refused:
            assert command == "/skills" and "skill" in str(refused)


async def test_the_memory_of_each_turn_is_told(program: EditorProgram) -> None:
    write = Call("write_file", {"path": "new.txt", "content": "hello\n"})
    async with program.start([Reply([write]), Reply([Say("Made.")])], "--mode", "auto-edit") as running:
        session = await running.new()
        await running.say(session, "make it")
        running.editor.answers = ["stay"]
        await running.say(session, "/memory")
        ((call, _),) = running.editor.asked
        texts = [each["content"]["text"] for each in running.editor.calls[call.tool_call_id]["content"]]
        assert "In use: summary." in texts[0]
        assert "Turn 1: changed new.txt." in "\n".join(texts)


async def test_undo_restores_the_files(program: EditorProgram) -> None:
    write = Call("write_file", {"path": "new.txt", "content": "hello\n"})
    async with program.start([Reply([write]), Reply([Say("Made.")])], "--mode", "auto-edit") as running:
        session = await running.new()
        await running.say(session, "make it")
        running.editor.answers = ["yes"]
        await running.say(session, "/undo")
        assert not (program.workspace / "new.txt").exists()
        assert "Changes of turn 1 undone" in running.editor.said


async def test_a_run_goes_on_until_its_check_passes(program: EditorProgram) -> None:
    write = Call("write_file", {"path": "done", "content": "x"})
    flags = ("--mode", "auto", "--no-sandbox")
    async with program.start([Reply([write]), Reply([Say("Made.")])], *flags) as running:
        session = await running.new()
        answer = await running.say(session, "/until test -e done")
        assert answer.stop_reason == "end_turn"
        assert (program.workspace / "done").exists()


async def test_an_own_command_runs(program: EditorProgram) -> None:
    async with program.start() as running:
        session = await running.new()
        await running.say(session, "!echo mine")
        assert "mine" in str([each.content for each in running.editor.of("tool_call_update")])


async def test_unknown_commands_are_refused_with_a_sentence(program: EditorProgram) -> None:
    async with program.start() as running:
        session = await running.new()
        with pytest.raises(RequestError, match="Did you mean /retry"):
            await running.say(session, "/retri")
        with pytest.raises(RequestError, match="doesn't work in an editor"):
            await running.say(session, "/theme")


async def test_a_title_is_told(program: EditorProgram) -> None:
    async with program.start([Reply([Say("Ok.")])]) as running:
        session = await running.new()
        await running.say(session, "hi")
        await running.say(session, "/rename A better title")
        assert [each.title for each in running.editor.of("session_info_update")] == ["A better title"]


# Faults


async def test_a_session_that_nobody_knows(program: EditorProgram) -> None:
    async with program.start() as running:
        with pytest.raises(RequestError, match="No session 'x' is open here") as refused:
            await running.say("x", "hi")
        assert refused.value.code == -32002
        with pytest.raises(RequestError, match="There is no session"):
            await running.agent.load_session(
                cwd=str(program.workspace), session_id="20200101-000000-aaaaaa", mcp_servers=[]
            )
        await running.agent.cancel(session_id="x")  # nothing happens
        for ask in (running.agent.load_session, running.agent.resume_session, running.agent.fork_session):
            with pytest.raises(RequestError, match="The id of the session is empty") as refused:
                await ask(cwd=str(program.workspace), session_id="", mcp_servers=[])
            assert refused.value.code == -32002


@pytest.mark.parametrize("cwd", ["relative", "/no/such/folder", "", f"/{'x' * 5_000}"])
async def test_a_wrong_folder(program: EditorProgram, cwd: str) -> None:
    async with program.start() as running:
        with pytest.raises(RequestError, match="cwd") as refused:
            await running.agent.new_session(cwd=cwd, mcp_servers=[])
        assert refused.value.code == -32602


async def test_without_a_model_the_editor_is_told_what_to_do(program: EditorProgram) -> None:
    from keen_tui.demo.model_server import ModelServer

    async with ModelServer([]) as server, program.connected([], None, server, initializes=False) as running:
        hello = await running.agent.initialize(protocol_version=1)
        assert hello.auth_methods and hello.auth_methods[0].id == "keen"
        with pytest.raises(RequestError) as refused:
            await running.new()
        assert refused.value.code == -32000
        with pytest.raises(RequestError) as refused:
            await running.agent.authenticate(method_id="keen")
        assert refused.value.code == -32000


async def test_lines_that_are_no_messages_end_nothing(program: EditorProgram) -> None:
    async with program.start(initializes=False) as running:
        process = running.process
        assert process.stdin
        process.stdin.write(b'not json\n[]\n{"jsonrpc":"2.0","id":7,"method":5}\n\n')
        hello = await running.agent.initialize(protocol_version=1)
        assert hello.protocol_version == 1
        with pytest.raises(RequestError) as refused:
            await running.agent._conn.send_request("session/new", {"cwd": 5})
        assert refused.value.code == -32602
        with pytest.raises(RequestError) as refused:
            await running.agent._conn.send_request("no/such", {})
        assert refused.value.code == -32601


async def test_an_editor_that_vanishes_leaves_a_turn_that_can_be_continued(program: EditorProgram) -> None:
    write = Call("write_file", {"path": "new.txt", "content": "hello\n"})
    script: list[Answer] = [Reply([write]), NoAnswer("stall"), Reply([Say("On it goes.")])]
    async with program.start(script, "--mode", "auto-edit") as running:
        session = await running.new()
        asked = asyncio.create_task(running.say(session, "make it"))
        await running.until(lambda _: len(running.server.requests) == 2)
        assert running.process.stdin
        running.process.stdin.close()
        async with asyncio.timeout(LIMIT):
            assert await running.process.wait() == 0
        asked.cancel()
        (file,) = program.home.rglob(f"{session.session_id}.jsonl")
        types = [json.loads(line)["type"] for line in file.read_text().splitlines()]
        assert types[-1] == "turn_incomplete"
        model = ("--base-url", running.server.base_url, "--model", "scripted", "--mode", "auto-edit")
        async with program.connected(model, None, running.server) as again:
            await again.agent.resume_session(cwd=str(program.workspace), session_id=session.session_id)
            await again.say(session.session_id, "/retry")
            assert "On it goes." in again.editor.said
    assert len(running.server.requests) == 3, "the finished call isn't asked for again"


async def test_what_is_printed_never_reaches_the_protocol(program: EditorProgram) -> None:
    async with program.start([Reply([Say("Ok.")])]) as running:
        session = await running.new()
        await running.say(session, "hi")
    log = program.home / "keen.log"
    assert not log.exists(), log.read_text()


async def _refusal(program: EditorProgram, *python: str) -> tuple[int | None, str]:
    """The exit code and the words of a program that no editor has started."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", *python),
        cwd=program.workspace,
        env=program.environ,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert out == b""
    return process.returncode, err.decode()


async def test_streams_that_are_no_pipes_are_refused(program: EditorProgram) -> None:
    code, said = await _refusal(program, "-m", "keen_tui", "acp")
    assert (code, said) == (
        2,
        "keen-tui: keen-tui acp needs pipes as standard input and output, as an editor provides them.\n",
    )


async def test_without_the_extra_a_sentence_says_how_to_get_it(program: EditorProgram) -> None:
    start = (
        "import sys; sys.modules['acp'] = None; sys.argv = ['keen-tui', 'acp']; "
        "from keen_tui.__main__ import main; sys.exit(main())"
    )
    code, said = await _refusal(program, "-c", start)
    assert code == 2
    assert "install Keen with its extra acp" in said


async def test_prompts_of_a_session_that_is_closed_are_answered(program: EditorProgram) -> None:
    async with program.start([NoAnswer("stall")]) as running:
        session = await running.new()
        asked = [asyncio.create_task(running.say(session, text)) for text in ("one", "two")]
        await running.until(lambda _: running.server.requests)
        await running.agent.close_session(session_id=session.session_id)
        assert [answer.stop_reason for answer in await asyncio.gather(*asked)] == ["cancelled", "cancelled"]


async def test_prompts_that_are_overtaken_by_the_end_of_their_session_are_answered(
    program: EditorProgram,
) -> None:
    async with program.start([Reply([Say("Ok.")])]) as running:
        session = await running.new()
        asked = [asyncio.create_task(running.say(session, text)) for text in ("one", "two")]
        await asyncio.sleep(0)  # both are written
        await running.agent.close_session(session_id=session.session_id)
        answers = await asyncio.gather(*asked)
        assert {answer.stop_reason for answer in answers} == {"cancelled"}
