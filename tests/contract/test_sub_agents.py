"""Sub-agents (turn.md rule 20): what they and their parent send, however they end."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from keen_tui.demo.script import Answer, Break, Call, HttpAnswer, Reply, Say
from keen_tui.demo.wires import seen
from keen_tui.domain.choices import Api
from keen_tui.domain.display import AgentDisplay
from keen_tui.domain.events import (
    AgentEvent,
    AgentWorked,
    ApprovalRequested,
    ToolFinished,
    ToolStarted,
    TurnAbandoned,
    TurnDone,
    TurnIncomplete,
    TurnStarted,
    Usage,
)
from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.domain.spent import LeftOut, Spent
from keen_tui.settings.added.agents import BUILT_IN
from keen_tui.settings.added.hooks import Hook
from tests.support.sub_agents import kill_when, own_home, said, server_of, task, with_agents
from tests.support.waiting import until
from tests.support.wire import assert_valid

CUT = Reply([Say("This sentence is cut in the mid")], broken=Break("reset"))
READ = Reply([Call("read_file", {"path": "a.txt"})])


@pytest.fixture
def environ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    home = own_home(tmp_path, monkeypatch)
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.txt").write_text("the secret of a.txt\n")
    return home


async def test_only_the_last_message_reaches_the_parent(
    tmp_path: Path, api: Api, environ: dict[str, str]
) -> None:
    server, answers = server_of(
        {
            "go": [Reply([task("look at a")]), said("All done.")],
            "look at a": [
                Reply([Say("Reading."), Call("read_file", {"path": "a.txt"})]),
                said("It is fine."),
            ],
        }
    )
    async with server, with_agents(tmp_path, server, api, environ) as bench:
        end = await bench.ask("go")
        assert isinstance(end, TurnDone)
        assert [len(requests) for requests in answers.sent.values()] == [2, 2]
        parent, child = answers.sent["go"][-1], answers.sent["look at a"][-1]
        (result,) = [message.text for message in seen(parent) if message.role == "tool"]
        assert result == "It is fine."
        assert "the secret" in str(child.body) and "the secret" not in str(parent.body)
        assert "You only read" in seen(child)[0].text and "You only read" not in seen(parent)[0].text
        tools = str(child.body["tools"])
        assert "grep_files" in tools and "write_file" not in tools and "'task'" not in tools
        (finished,) = [event for event in bench.log.of(ToolFinished) if event.name == "task"]
        display = finished.result.display
        assert isinstance(display, AgentDisplay) and display.calls == 1 and display.kept_out > 20
        assert_valid(server.requests)


async def test_its_facts_are_facts_of_the_parent(tmp_path: Path, api: Api, environ: dict[str, str]) -> None:
    write = Call("write_file", {"path": "b.txt", "content": "b\n"})
    server, answers = server_of(
        {
            "go": [Reply([task("write b", "writer")]), said("Done."), said("Later.")],
            "write b": [Reply([write]), Reply([Call("bash", {"command": "exit 3"})]), said("Written.")],
        }
    )
    async with server, with_agents(tmp_path, server, api, environ) as bench:
        end = await bench.ask("go")
        assert end.turn_memory.files_changed == ("b.txt",)
        assert [failed.exit_code for failed in end.turn_memory.failed_bash] == [3]
        (result,) = [message.text for message in seen(answers.sent["go"][1]) if message.role == "tool"]
        assert result == "Written.\n\nTool memory:\n- Files changed: b.txt\n- Failed bash: exit 3 (exit 3)"
        assert bench.log.of(AgentWorked)[1].facts == (FileChanged(path="b.txt"),)
        assert {event.agent for event in bench.log.of(Usage)} == {"", "writer"}
        await bench.ask("and now")
        assert "Files changed: b.txt" in seen(server.requests[-1])[2].text
        changes = await bench.changes.changes(1)
        assert [file.path for file in changes.files] == ["b.txt"]


async def test_results_keep_the_order_of_the_calls(tmp_path: Path, api: Api, environ: dict[str, str]) -> None:
    prompts = [f"look {number}" for number in range(3)]
    slow = {prompt: [READ] * (2 - place) + [said(f"Seen {prompt}.")] for place, prompt in enumerate(prompts)}
    server, answers = server_of({"go": [Reply([*map(task, prompts)]), said("Done.")], **slow})
    async with server, with_agents(tmp_path, server, api, environ) as bench:
        await bench.ask("go")
        results = [message.text for message in seen(answers.sent["go"][-1]) if message.role == "tool"]
        assert results == [f"Seen {prompt}." for prompt in prompts]


async def test_those_that_read_run_side_by_side_as_many_as_the_setting_says(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    hang = Reply([Say("Thinking")], broken=Break("stall"))
    prompts = [f"look {number}" for number in range(5)]
    server, answers = server_of(
        {"go": [Reply([*map(task, prompts)])], **{prompt: [hang] for prompt in prompts}}
    )
    async with server, with_agents(tmp_path, server, "openai-chat", environ, agents_at_once=3) as bench:
        agents, at_work = bench.history.agents, []
        answers.look = lambda: at_work.append(sum(agent.session is not None for agent in agents.all))
        bench.session.submit("go")
        await until(lambda: server.open_streams == 3)
        agents.stop(agents.all[0].call.id)
        await until(lambda: len(answers.sent) == 5)
        assert max(at_work) == 3


async def test_those_that_write_run_one_after_the_other(
    tmp_path: Path, api: Api, environ: dict[str, str]
) -> None:
    command = Call("bash", {"command": "test ! -e busy && touch busy && sleep 0.2 && rm busy"})
    one = [Reply([command]), said("ok")]
    server, _ = server_of(
        {
            "go": [Reply([task("first", "writer"), task("second", "writer")]), said("Done.")],
            "first": one,
            "second": one,
        }
    )
    async with server, with_agents(tmp_path, server, api, environ) as bench:
        end = await bench.ask("go")
        assert not end.turn_memory.failed_bash


async def test_25_a_child_that_is_cut_is_gone_on_with_and_nobody_else(
    tmp_path: Path, api: Api, environ: dict[str, str]
) -> None:
    server, answers = server_of(
        {
            "go": [Reply([task("one"), task("two"), task("three")]), said("All done.")],
            "one": [READ, said("One.")],
            "two": [READ, READ, READ, CUT, said("Two.")],
            "three": [READ, said("Three.")],
        }
    )
    async with server, with_agents(tmp_path, server, api, environ) as bench:
        end = await bench.ask("go")
        assert isinstance(end, TurnIncomplete) and end.reason in ("cut", "network")
        assert "The sub-agent explore was interrupted" in end.detail
        assert (end.agents, end.may_pass, end.calls) == (1, True, 2)
        assert {name: len(sent) for name, sent in answers.sent.items()} == {
            "go": 1,
            "one": 2,
            "two": 4,
            "three": 2,
        }
        end = await bench.retry()
        assert isinstance(end, TurnDone)
        assert {name: len(sent) for name, sent in answers.sent.items()} == {
            "go": 2,
            "one": 2,
            "two": 5,
            "three": 2,
        }
        cut, again = answers.sent["two"][3:]
        assert cut.body == again.body
        results = [message.text for message in seen(answers.sent["go"][-1]) if message.role == "tool"]
        assert results == ["One.", "Two.", "Three."]
        assert "the secret" not in str(answers.sent["go"][-1].body)
        assert_valid(server.requests)


async def test_26_another_message_closes_the_step(tmp_path: Path, api: Api, environ: dict[str, str]) -> None:
    write = Reply([Call("write_file", {"path": "b.txt", "content": "b\n"})])
    server, answers = server_of(
        {
            "go": [Reply([task("one"), task("two", "writer")]), said("Understood.")],
            "one": [READ, said("One.")],
            "two": [write, CUT],
        }
    )
    async with server, with_agents(tmp_path, server, api, environ) as bench:
        end = await bench.ask("go")
        assert isinstance(end, TurnIncomplete) and end.turn_memory.files_changed == ("b.txt",)
        end = await bench.ask("leave it")
        assert isinstance(end, TurnDone) and end.turn_memory.files_changed == ("b.txt",)
        messages = seen(answers.sent["go"][-1])
        results = [message.text for message in messages if message.role == "tool"]
        assert results[0] == "One." and results[1].startswith(
            "The sub-agent was interrupted before it finished:"
        )
        assert "- Files changed: b.txt" in results[1]
        assert messages[-1].text == "leave it"
        assert len(answers.sent["two"]) == 2
        assert_valid(server.requests)


async def test_esc_stops_all_and_retry_goes_on_with_all(
    tmp_path: Path, api: Api, environ: dict[str, str]
) -> None:
    hang = Reply([Say("Thinking")], broken=Break("stall"))
    server, answers = server_of(
        {
            "go": [Reply([task("one"), task("two"), Call("read_file", {"path": "a.txt"})]), said("Done.")],
            "one": [READ, hang, said("One.")],
            "two": [READ, hang, said("Two.")],
        }
    )
    async with server, with_agents(tmp_path, server, api, environ) as bench:
        bench.session.submit("go")
        await until(lambda: [len(answers.sent.get(name, ())) for name in ("one", "two")] == [2, 2])
        bench.session.stop()
        end = await bench.log.wait_for_end()
        assert isinstance(end, TurnIncomplete) and end.reason == "interrupted" and not end.unknown_calls
        started = [event.id for event in bench.log.of(ToolStarted)]
        assert started == [event.id for event in bench.log.of(ToolFinished)]
        end = await bench.retry()
        assert isinstance(end, TurnDone)
        results = [message.text for message in seen(answers.sent["go"][-1]) if message.role == "tool"]
        assert results[:2] == ["One.", "Two."] and "the secret" in results[2]
        assert [len(answers.sent[name]) for name in ("one", "two")] == [3, 3]
        assert_valid(server.requests)


async def test_a_child_can_be_stopped_alone(tmp_path: Path, api: Api, environ: dict[str, str]) -> None:
    hang = Reply([Say("Thinking")], broken=Break("stall"))
    server, answers = server_of(
        {
            "go": [Reply([task("one", id="call_one"), task("two")]), said("Done.")],
            "one": [Reply([Say("I looked."), Call("read_file", {"path": "a.txt"})]), hang],
            "two": [READ, said("Two.")],
        }
    )
    async with server, with_agents(tmp_path, server, api, environ) as bench:
        bench.session.submit("go")
        await until(lambda: len(answers.sent.get("one", ())) == 2)
        bench.history.agents.stop(bench.history.agents.all[0].call.id)
        end = await bench.log.wait_for_end()
        assert isinstance(end, TurnDone)
        results = [message.text for message in seen(answers.sent["go"][-1]) if message.role == "tool"]
        assert results[0].startswith("The sub-agent didn't finish. The user stopped it.")
        assert "I looked." in results[0] and results[1] == "Two."


async def test_its_approvals_come_to_the_parent_one_at_a_time(
    tmp_path: Path, api: Api, environ: dict[str, str]
) -> None:
    outside = Reply([Call("read_file", {"path": "/etc/hostname"})])
    server, answers = server_of(
        {
            "go": [Reply([task("one"), task("two")]), said("Done.")],
            "one": [outside, said("One.")],
            "two": [outside, said("Two.")],
        }
    )
    async with server, with_agents(tmp_path, server, api, environ, mode="ask") as bench:
        bench.session.submit("go")
        first = await bench.log.wait_for(ApprovalRequested)
        assert first.agent == "explore" and first.name == "read_file"
        await until(lambda: all(len(answers.sent.get(name, ())) for name in ("one", "two")))
        assert len(bench.log.of(ApprovalRequested)) == 1
        bench.session.answer(first.id, allow=True)
        second = await bench.log.wait_for(ApprovalRequested, 2)
        bench.session.answer(second.id, allow=False, message="not that")
        await bench.log.wait_for_end()
        results = [str(answers.sent[name][-1].body) for name in ("one", "two")]
        assert sum("not that" in result for result in results) == 1


async def test_a_rate_limit_slows_all_and_counts_once(tmp_path: Path, environ: dict[str, str]) -> None:
    limited = HttpAnswer(429, {"error": {"message": "slow down"}}, headers={"retry-after": "0.2"})
    prompts = [f"look {number}" for number in range(4)]
    scripts: dict[str, list[Answer]] = {prompt: [limited, said("Seen.")] for prompt in prompts}
    server, answers = server_of({"go": [Reply([*map(task, prompts)]), said("Done.")], **scripts})
    async with server, with_agents(tmp_path, server, "openai-chat", environ, attempts=2) as bench:
        assert isinstance(await bench.ask("go"), TurnDone)
        assert all(len(answers.sent[prompt]) == 2 for prompt in prompts)


async def test_killed_and_resumed_with_durable_pending_state(
    tmp_path: Path, api: Api, environ: dict[str, str]
) -> None:
    write = Reply([Call("bash", {"command": "echo once >> log.txt"})])
    hang = Reply([Say("Thinking")], broken=Break("stall"))
    server, answers = server_of(
        {
            "go": [Reply([task("one"), task("two", "writer")]), said("Done.")],
            "one": [READ, said("One.")],
            "two": [write, hang, said("Two.")],
        }
    )
    async with server:
        async with with_agents(tmp_path, server, api, environ, durable=True) as bench:
            bench.session.submit("go")
            kill = await kill_when(bench, lambda: len(answers.sent.get("two", ())) == 2)
        kill.come()
        async with with_agents(
            tmp_path, server, api, environ, durable=True, opening=kill.session_id
        ) as bench:
            assert bench.session.pending and bench.session.pending.agents == 1
            assert bench.log.ends[-1].reason == "interrupted"
            end = await bench.retry()
            assert isinstance(end, TurnDone)
            assert (tmp_path / "work" / "log.txt").read_text() == "once\n"
            assert end.turn_memory.files_changed == () or end.turn_memory.by_command
            assert [len(answers.sent[name]) for name in ("go", "one", "two")] == [2, 2, 3]
            results = [message.text for message in seen(answers.sent["go"][-1]) if message.role == "tool"]
            assert results[0] == "One." and results[1].startswith("Two.")
            assert_valid(server.requests)


async def test_a_message_after_a_kill_tells_what_a_child_did(
    tmp_path: Path, api: Api, environ: dict[str, str]
) -> None:
    """Killed, retried, and killed again while it works: its call was never noted as anything but begun."""
    writes = [Reply([Call("write_file", {"path": f"{name}.txt", "content": "x\n"})]) for name in "bcd"]
    hang = Reply([Say("Thinking")], broken=Break("stall"))
    server, answers = server_of(
        {
            "go": [Reply([task("two", "writer"), task("one")]), said("Understood.")],
            "two": [writes[0], hang, writes[1], hang],
        }
    )
    async with server:
        session_id = ""
        for requests in (2, 4):  # of the sub-agent; the parent has made one
            again = with_agents(tmp_path, server, api, environ, durable=True, opening=session_id)
            async with again as bench:
                if session_id:
                    bench.session.retry()
                else:
                    bench.session.submit("go")
                await server.wait_for_requests(requests + 1)
                kill = await kill_when(bench, lambda: True)
            kill.come()
            session_id = kill.session_id
        async with with_agents(tmp_path, server, api, environ, durable=True, opening=session_id) as bench:
            end = await bench.ask("leave it")
            assert isinstance(end, TurnDone)
            assert end.turn_memory.files_changed == ("b.txt", "c.txt")
            result, not_begun = [each.text for each in seen(answers.sent["go"][-1]) if each.role == "tool"]
            assert result.startswith("The sub-agent was interrupted before it finished: the program ended")
            assert "- Files changed: b.txt, c.txt" in result
            assert not_begun == "not run: the turn was interrupted"
            assert len(answers.sent["two"]) == 4
            assert_valid(server.requests)


@pytest.mark.parametrize("how", ["message", "discard", "switch", "fork", "another session", "new program"])
async def test_what_nobody_goes_on_with_leaves_no_pending_file(
    tmp_path: Path, environ: dict[str, str], how: str
) -> None:
    hang = Reply([Say("Thinking")], broken=Break("stall"))
    server, answers = server_of(
        {"go": [Reply([task("one")]), *[said("Later.")] * 3], "one": [READ, hang], "leave it": [said("Yes.")]}
    )
    async with server:
        async with with_agents(tmp_path, server, "openai-chat", environ, durable=True) as bench:
            bench.session.submit("go")
            kill = await kill_when(bench, lambda: len(answers.sent.get("one", ())) == 2)
        kill.come()
        agents = bench.store.root / "agents"
        (left,) = agents.rglob("*.pending")
        left.with_suffix(".pending.new").touch()
        if how == "new program":  # it has lost the pending state of the session itself
            bench.pending_file.unlink()
        again = with_agents(tmp_path, server, "openai-chat", environ, durable=True, opening=kill.session_id)
        async with again as bench:
            match how:
                case "message":
                    await bench.ask("leave it")
                case "discard":
                    bench.session.discard()
                case "switch":
                    bench.switch("anthropic", abandon=True)
                case "fork":
                    await bench.history.fork()
                case "another session":
                    await bench.history.new()
            await until(lambda: not [*agents.rglob("*.pending*")])
            assert [*agents.rglob("*.jsonl")]


async def test_a_wish_for_durable_state_reaches_those_at_work(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    write = Reply([Call("bash", {"command": "echo once >> log.txt"})])
    hang = Reply([Say("Thinking")], broken=Break("stall"))
    server, answers = server_of(
        {"go": [Reply([task("two", "writer")]), said("Done.")], "two": [write, hang, said("Two.")]}
    )
    async with server:
        async with with_agents(tmp_path, server, "openai-chat", environ) as bench:
            bench.session.submit("go")
            await until(lambda: len(answers.sent.get("two", ())) == 2)
            bench.history.keep_pending(True)
            kill = await kill_when(bench, lambda: len([*bench.store.root.rglob("*.pending*")]) == 2)
        kill.come()
        again = with_agents(tmp_path, server, "openai-chat", environ, durable=True, opening=kill.session_id)
        async with again as bench:
            assert isinstance(await bench.retry(), TurnDone)
            assert (tmp_path / "work" / "log.txt").read_text() == "once\n"
            assert [len(answers.sent[name]) for name in ("go", "two")] == [2, 3]


async def test_discarded_work_keeps_what_a_child_changed(tmp_path: Path, environ: dict[str, str]) -> None:
    write = Reply([Call("write_file", {"path": "b.txt", "content": "b\n"})])
    server, answers = server_of({"go": [Reply([task("two", "writer")]), said("Later.")], "two": [write, CUT]})
    async with server, with_agents(tmp_path, server, "openai-chat", environ) as bench:
        await bench.ask("go")
        bench.session.discard()
        abandoned = await bench.log.wait_for(TurnAbandoned)
        assert abandoned.turn_memory.files_changed == ("b.txt",)
        await bench.ask("next")
        assert "Files changed: b.txt" in str(answers.sent["go"][-1].body)


async def test_the_session_of_a_child_is_saved_and_found(tmp_path: Path, environ: dict[str, str]) -> None:
    server, _ = server_of({"go": [Reply([task("look")]), said("Done.")], "look": [READ, said("Seen.")]})
    async with server, with_agents(tmp_path, server, "openai-chat", environ) as bench:
        await bench.ask("go")
        await bench.history.flushed()
        (finished,) = [event for event in bench.log.of(ToolFinished) if event.name == "task"]
        assert isinstance(finished.result.display, AgentDisplay)
        path = bench.store.path_of(finished.result.display.session)
        events = [record.event for record in bench.store.read(path).records]
        assert [event.text for event in events if isinstance(event, TurnDone)] == ["Seen."]
        assert [row.id for row in bench.store.list()] == [bench.history.session_id]
        told = [event for event in bench.log.of(AgentEvent) if isinstance(event.event, ToolFinished)]
        assert [event.agent for event in told] == ["explore"]


async def test_what_a_sub_agent_sent_is_compared_with_no_history(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    server, _ = server_of(
        {"go": [READ, said("One."), Reply([task("look")]), said("Two.")], "look": [said("Seen.")]}
    )
    async with server, with_agents(tmp_path, server, "openai-chat", environ) as bench:
        await bench.ask("go")
        await bench.ask("again")
        (own,) = [event for event in bench.log.of(Usage) if event.agent]
        left_out = LeftOut(4_000)
        assert Spent().plus(own, left_out).whole_tokens == own.tokens.input_tokens
        assert Spent().plus(replace(own, agent=""), left_out).whole_tokens == 1_100


async def test_one_that_is_gone_on_with_shows_its_past(tmp_path: Path, environ: dict[str, str]) -> None:
    hang = Reply([Say("Thinking")], broken=Break("stall"))
    server, answers = server_of({"go": [Reply([task("two")])], "two": [READ, CUT, hang]})
    async with server:
        async with with_agents(tmp_path, server, "openai-chat", environ, durable=True) as bench:
            await bench.ask("go")
            session_id = bench.history.session_id
        again = with_agents(tmp_path, server, "openai-chat", environ, durable=True, opening=session_id)
        async with again as bench:
            bench.session.retry()
            await until(lambda: len(answers.sent["two"]) == 3)
            (agent,) = bench.history.agents.all
            messages = [event.text for event in agent.events.all if isinstance(event, TurnStarted)]
            assert messages == ["two", None]


async def test_a_hook_guards_a_task_in_every_attempt_and_the_calls_inside(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    guards = "cat >> seen.txt; test ! -e closed || { echo closed >&2; exit 2; }"
    hooks = [
        Hook(point="PreToolUse", matcher="Task", command=guards),
        Hook(point="PreToolUse", matcher="Read", command="cat >> read.txt"),
    ]
    write = Reply([Call("write_file", {"path": "b.txt", "content": "b\n"})])
    parent = [Reply([task("one", "writer")]), said("Done.")]
    server, answers = server_of({"go": parent, "one": [READ, write, CUT, said("One.")]})
    async with server, with_agents(tmp_path, server, "openai-chat", environ, hooks=hooks) as bench:
        await bench.ask("go")
        work = tmp_path / "work"
        assert '"subagent_type":"writer"' in (work / "seen.txt").read_text().replace(" ", "")
        assert "a.txt" in (work / "read.txt").read_text()
        (work / "closed").touch()
        end = await bench.retry()
        assert isinstance(end, TurnDone) and end.turn_memory.files_changed == ("b.txt",)
        (result,) = [message.text for message in seen(answers.sent["go"][-1]) if message.role == "tool"]
        assert "closed" in result and len(answers.sent["one"]) == 3


async def test_a_hook_keeps_a_sub_agent_going_by_its_name(
    tmp_path: Path, api: Api, environ: dict[str, str]
) -> None:
    guard = "cat >> stopped.txt; test -e b.txt || { echo b.txt is missing >&2; exit 2; }"
    hooks = [
        Hook(point="SubagentStop", matcher="writer", command=guard),
        Hook(point="SubagentStop", matcher="explore", command="touch wrong.txt"),
        Hook(point="Stop", matcher="", command="echo >> ended.txt"),
    ]
    write = Reply([Call("write_file", {"path": "b.txt", "content": "b\n"})])
    parent = [Reply([task("one", "writer")]), said("Done.")]
    server, answers = server_of({"go": parent, "one": [said("Finished."), write, said("It is there.")]})
    async with server, with_agents(tmp_path, server, api, environ, hooks=hooks) as bench:
        assert isinstance(await bench.ask("go"), TurnDone)
        assert "b.txt is missing" in seen(answers.sent["one"][1])[-1].text
        (result,) = [message.text for message in seen(answers.sent["go"][-1]) if message.role == "tool"]
        assert result.startswith("Finished.\n\nIt is there.")
        work = tmp_path / "work"
        given = (work / "stopped.txt").read_text().replace(" ", "")
        assert '"hook_event_name":"SubagentStop"' in given and '"agent_type":"writer"' in given
        assert given.count('"stop_hook_active":true') == 1
        assert not (work / "wrong.txt").exists() and (work / "ended.txt").read_text() == "\n"
        assert_valid(server.requests)


async def test_a_hook_at_the_start_of_a_sub_agent_adds_context_to_its_task(
    tmp_path: Path, api: Api, environ: dict[str, str]
) -> None:
    context = '{"hookSpecificOutput": {"hookEventName": "SubagentStart", "additionalContext": "use tabs"}}'
    hooks = [
        Hook(point="SubagentStart", matcher="writer", command=f"cat >> begun.txt; echo '{context}'"),
        Hook(point="SubagentStart", matcher="explore", command="touch wrong.txt"),
        Hook(point="SubagentStart", matcher="writer", command="exit 2"),
    ]
    parent = [Reply([task("one", "writer")]), said("Done.")]
    server, answers = server_of({"go": parent, "one": [READ, said("It is there.")]})
    async with server, with_agents(tmp_path, server, api, environ, hooks=hooks) as bench:
        assert isinstance(await bench.ask("go"), TurnDone)
        assert "use tabs" in seen(answers.sent["one"][0])[-1].text
        assert "use tabs" not in str(seen(answers.sent["go"][-1]))
        given = (tmp_path / "work" / "begun.txt").read_text().replace(" ", "")
        assert given.count('"hook_event_name":"SubagentStart"') == 1
        assert '"agent_type":"writer"' in given and '"agent_id":"' in given
        assert not (tmp_path / "work" / "wrong.txt").exists()
        assert_valid(server.requests)


async def test_a_definition_that_is_gone_loses_no_facts(tmp_path: Path, environ: dict[str, str]) -> None:
    write = Reply([Call("write_file", {"path": "b.txt", "content": "b\n"})])
    parent = [Reply([task("one", "writer")]), said("Done.")]
    server, _ = server_of({"go": parent, "one": [write, CUT]})
    async with server:
        async with with_agents(tmp_path, server, "openai-chat", environ, durable=True) as bench:
            await bench.ask("go")
            session_id = bench.history.session_id
        later = with_agents(
            tmp_path, server, "openai-chat", environ, durable=True, opening=session_id, agents=BUILT_IN
        )
        async with later as bench:
            end = await bench.retry()
            assert isinstance(end, TurnDone) and end.turn_memory.files_changed == ("b.txt",)
            assert "there is no sub-agent 'writer'" in str(server.requests[-1].body)
