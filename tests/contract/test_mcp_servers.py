"""MCP servers in a session: real servers of the SDK as programs, and what goes to the model over the wire."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from keen_tui.agent.services.server_service import ServerService
from keen_tui.demo.script import Answer, Break, Call, Reply, Say
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.events import (
    ApprovalRequested,
    Notice,
    QuestionAnswered,
    QuestionAsked,
    ToolFinished,
    ToolOutput,
    TurnDone,
    TurnIncomplete,
)
from keen_tui.domain.facts.server_called import CalledTool
from keen_tui.domain.models import ModelInfo
from keen_tui.settings.added.mcp_json import read_servers
from keen_tui.settings.added.mcp_servers import McpServer
from keen_tui.tools.mcp import servers as mcp_servers
from keen_tui.tools.rules.rules import Rules, parse_rules
from tests.support import agent
from tests.support.agent import AtWork, Bench
from tests.support.mcp import PROGRAMS, all_settled, noted, servers_of, talkative
from tests.support.waiting import until

CUT = Reply([Say("This sentence is cut in the mid")], broken=Break("reset"))
OK = Reply([Say("Ok.")])


def make(name: str = "a") -> Call:
    return Call("mcp__talk__make", {"name": name})


async def test_later_requests_carry_what_a_call_came_to_and_nothing_else(
    tmp_path: Path, at_work: AtWork
) -> None:
    calls = tmp_path / "calls"
    script: list[Answer] = [
        Reply([make(), make("b"), Call("mcp__talk__echo", {"text": "read"})]),
        Reply([Call("mcp__talk__fail", {"name": "c"})]),
        OK,
        OK,
    ]
    async with at_work(script, tmp_path, servers=[talkative(calls)]) as bench:
        await all_settled(bench)
        end = await bench.ask("go")
        assert bench.results(1) == ["made a", "made b", "read"]
        assert isinstance(end, TurnDone)
        assert end.turn_memory.called == (
            CalledTool(server="talk", tool="make", done=2),
            CalledTool(server="talk", tool="fail", failed=1),
        )
        await bench.ask("next")
        assert bench.lines() == [
            "user: go",
            "assistant: Ok.\n\nTool memory:\n- Called: talk.make (2 ok), talk.fail (failed)",
            "user: next",
        ]
        bench.assert_valid_requests()


async def test_a_retry_runs_none_of_the_calls_again(tmp_path: Path, at_work: AtWork) -> None:
    calls = tmp_path / "calls"
    script: list[Answer] = [Reply([make()]), CUT, OK, OK]
    async with at_work(script, tmp_path, servers=[talkative(calls)]) as bench:
        await all_settled(bench)
        assert isinstance(await bench.ask("go"), TurnIncomplete)
        end = await bench.retry()
        assert isinstance(end, TurnDone)
        assert bench.results() == ["made a"]
        assert noted(calls) == ["make a"]
        assert end.turn_memory.called == (CalledTool(server="talk", tool="make", done=1),)
        bench.assert_valid_requests()


async def test_images_go_where_the_api_takes_them(tmp_path: Path, at_work: AtWork) -> None:
    script: list[Answer] = [Reply([Call("mcp__talk__picture", {})]), OK]
    async with at_work(script, tmp_path, servers=[talkative()]) as bench:
        await all_settled(bench)
        await bench.ask("go")
        (result,) = (message for message in bench.messages() if message.role == "tool")
        assert result.text.startswith("[image, image/png, 70 B")
        assert "[resource file:///notes.txt] notes" in result.text
        has_images = bench.session.identity.api != "openai-chat"
        assert len(result.images) == has_images
        (finished,) = bench.log.of(ToolFinished)
        assert finished.result.images == ()  # no session file holds them
        bench.assert_valid_requests()


async def test_a_server_that_dies_gives_an_error_result_and_is_started_again_once(
    tmp_path: Path, at_work: AtWork
) -> None:
    calls = tmp_path / "calls"
    die = Call("mcp__talk__die", {})
    script: list[Answer] = [Reply([make(), die]), Reply([make("b")]), Reply([die]), Reply([make("c")]), OK]
    async with at_work(script, tmp_path, servers=[talkative(calls)]) as bench:
        servers = await all_settled(bench)
        end = await bench.ask("go")
        assert isinstance(end, TurnDone)
        made, died, again, died_again, off = bench.results()
        assert (made, again) == ("made a", "made b")
        assert "effects are unknown. It is being started again" in died
        assert "It stays off until the user restarts it" in died_again
        assert off.startswith("Error: make of the MCP server talk: ")
        assert noted(calls) == ["make a", "die", "make b", "die"]
        await until(lambda: len(bench.log.of(Notice)) == 2)
        first, second = (event.text for event in bench.log.of(Notice))
        assert first.startswith("The MCP server talk stopped working and is being restarted: it ended")
        assert second.startswith("The MCP server talk stopped working again and stays off: it ended")
        assert servers.reports()[0].state == "failed"
        assert end.turn_memory.called[1] == CalledTool(server="talk", tool="die", failed=2)


async def test_esc_cancels_the_call_on_the_server_and_its_effects_are_unknown(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    slow = Call("mcp__talk__slow", {"seconds": 600})
    async with agent.at_work([Reply([slow]), OK], tmp_path, servers=[talkative(calls)]) as bench:
        await all_settled(bench)
        bench.session.submit("go")
        output = await bench.log.wait_for(ToolOutput)
        assert output.text == "1 of 4: step 1\n"
        bench.session.stop()
        end = await bench.log.wait_for_end()
        assert isinstance(end, TurnIncomplete)
        assert [call.name for call in end.unknown_calls] == ["mcp__talk__slow"]
        await until(lambda: noted(calls) == ["slow began", "slow was cancelled"])
        await bench.retry()
        (result,) = bench.results()
        assert result.startswith("interrupted by the user, effects unknown; output so far: 1 of 4: step 1")


async def test_a_call_is_stopped_at_its_time_limit(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    slow = Call("mcp__talk__slow", {"seconds": 600})
    server = talkative(calls, tool_timeout=0.5)
    async with agent.at_work([Reply([slow]), OK], tmp_path, servers=[server]) as bench:
        await all_settled(bench)
        await bench.ask("go")
        (result,) = bench.results()
        assert "stopped after 0.5 seconds, effects unknown" in result
        await until(lambda: "slow was cancelled" in noted(calls))


async def test_a_call_asks_and_a_yes_for_the_session_is_about_that_tool(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    script: list[Answer] = [
        Reply([make()]),
        Reply([make("b")]),
        Reply([Call("mcp__talk__echo", {"text": "x"})]),
        OK,
    ]
    async with agent.at_work(script, tmp_path, mode="ask", servers=[talkative(calls)]) as bench:
        await all_settled(bench)
        bench.session.submit("go")
        asked = await bench.log.wait_for(ApprovalRequested)
        assert asked.question == "Call make of the MCP server talk?"
        assert asked.why == "it runs in the server, outside Keen and its sandbox"
        assert asked.grant == "allow mcp__talk__make for this session"
        assert getattr(asked.display, "text", "") == "name: a"
        assert asked.target == "talk.make name: a"
        bench.session.answer(asked.id, allow=True, scope="session")
        asked = await bench.log.wait_for(ApprovalRequested, 2)
        assert asked.question == "Call echo of the MCP server talk?"
        assert asked.why == "the server says that it only reads, but nothing checks that"
        assert noted(calls) == ["make a", "make b"]
        bench.session.answer(asked.id, allow=False)
        await bench.log.wait_for_end()
        assert bench.results()[-1].startswith("The user denied this call")
        assert bench.session.permitted.session == ("mcp__talk__make",)


@pytest.mark.parametrize(
    ("rule", "ran"), [("mcp__talk__echo", True), ("mcp__talk__ma*", False), ("", False)], ids=str
)
async def test_plan_mode_refuses_what_no_rule_allows(tmp_path: Path, rule: str, ran: bool) -> None:
    calls = tmp_path / "calls"
    rules = Rules(parse_rules("allow", [rule] if rule else [], "here"))
    script: list[Answer] = [Reply([Call("mcp__talk__echo", {"text": "x"})]), OK]
    async with agent.at_work(script, tmp_path, mode="plan", rules=rules, servers=[talkative(calls)]) as bench:
        await all_settled(bench)
        await bench.ask("go")
        assert noted(calls) == (["echo x"] if ran else [])
        assert ("plan mode is on, so you can only read" in bench.results()[0]) is not ran


async def test_a_servers_question_is_put_to_the_person(tmp_path: Path, at_work: AtWork) -> None:
    calls = tmp_path / "calls"
    script: list[Answer] = [Reply([Call("mcp__talk__asks", {})]), OK]
    server = talkative(calls, env={"OLD_PROTOCOL": "1"})
    async with at_work(script, tmp_path, servers=[server]) as bench:
        await all_settled(bench)
        bench.session.submit("go")
        asked = await bench.log.wait_for(QuestionAsked)
        assert asked.question == "The MCP server talk asks for Name (1 of 2):"
        assert asked.body == "```\nWho are you?\n```"
        bench.session.reply(asked.id, 0, "Ada")
        asked = await bench.log.wait_for(QuestionAsked, 2)
        bench.session.reply(asked.id, 0, "forty")
        asked = await bench.log.wait_for(QuestionAsked, 3)
        assert asked.body.endswith("That doesn't fit: it isn't a whole number.")
        bench.session.reply(asked.id, 0, "40")
        await bench.log.wait_for_end()
        assert bench.results() == ["accept name='Ada' age=40"]
        bench.assert_valid_requests()


async def test_where_nobody_is_there_a_servers_question_is_declined_and_the_model_is_told(
    tmp_path: Path,
) -> None:
    calls = tmp_path / "calls"
    script: list[Answer] = [Reply([Call("mcp__talk__asks_first", {})]), OK]
    async with agent.at_work(script, tmp_path, attended=False, servers=[talkative(calls)]) as bench:
        await all_settled(bench)
        await bench.ask("go")
        (result,) = bench.results()
        assert result.startswith("decline None")
        assert "but there is nobody to ask: declined" in result
        assert noted(calls) == ["asked: decline"]


async def test_a_stop_takes_the_question_of_a_server_back(tmp_path: Path) -> None:
    script: list[Answer] = [Reply([Call("mcp__talk__asks", {})]), OK]
    server = talkative(env={"OLD_PROTOCOL": "1"})
    async with agent.at_work(script, tmp_path, servers=[server]) as bench:
        await all_settled(bench)
        bench.session.submit("go")
        await bench.log.wait_for(QuestionAsked)
        bench.session.stop()
        await bench.log.wait_for_end()
        assert (await bench.log.wait_for(QuestionAnswered)).by == "stop"


async def test_a_changed_list_of_tools_counts_from_the_next_turn_on(tmp_path: Path) -> None:
    script: list[Answer] = [Reply([Call("mcp__talk__grow", {})]), Reply([make()]), OK, OK]
    server = talkative(env={"OLD_PROTOCOL": "1"}, disabled_tools=("long",))
    async with agent.at_work(script, tmp_path, servers=[server]) as bench:
        servers = await all_settled(bench)
        await bench.ask("go")
        await until(lambda: len(servers.reports()[0].tools) == 14)
        await bench.ask("next")
        offered = [_offered(bench, number) for number in range(4)]
        assert offered[0] == offered[1] == offered[2]
        assert offered[3] == sorted([*offered[0], "mcp__talk__grown"])
        assert "mcp__talk__long" not in offered[0]


def _offered(bench: Bench, number: int) -> list[str]:
    tools = bench.server.requests[number].body["tools"]
    return [tool["function"]["name"] for tool in tools if tool["function"]["name"].startswith("mcp__")]


async def test_no_server_holds_a_turn_for_long_and_each_failure_is_told(tmp_path: Path) -> None:
    servers = [
        McpServer(name="mute", command="sleep", args=("600",), startup_timeout=600.0),
        McpServer(name="gone", command="no-such-program"),
        McpServer(name="dying", command="false"),
        McpServer(name="boxed", command="true", sandbox=True),
        McpServer(name="unreachable", transport="http", url="http://127.0.0.1:1/mcp"),
    ]
    async with agent.at_work([OK], tmp_path, servers=servers) as bench:
        servers_of(bench).start()
        assert isinstance(await bench.ask("go"), TurnDone)
        await until(lambda: len(_failures(bench)) == 4)
        words = sorted(_failures(bench))
        assert (
            words[0]
            == "boxed can't be used: its settings require the sandbox, and the sandbox is turned off."
        )
        assert words[1].startswith("dying can't be used: it ended with exit code 1")
        assert words[2].startswith("gone can't be used: the program no-such-program isn't on your PATH")
        assert words[3].startswith("unreachable can't be used: the server can't be reached")
        states = {report.name: report.state for report in servers_of(bench).reports()}
        assert states.pop("mute") == "starting"
        assert set(states.values()) == {"failed"}


async def test_a_script_of_a_project_that_has_changed_is_not_started_again(tmp_path: Path) -> None:
    bench_folder = tmp_path / "work"
    script = bench_folder / "serve.py"
    bench_folder.mkdir()
    script.write_text(
        f"import runpy; runpy.run_path({str(PROGRAMS / 'talkative.py')!r}, run_name='__main__')"
    )
    entry = {"command": sys.executable, "args": ["serve.py"]}
    (bench_folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"talk": entry}}))
    (found,) = read_servers(bench_folder).found
    server = replace(found, startup_timeout=60.0)
    async with agent.at_work([OK], bench_folder, servers=[server]) as bench:
        servers = await all_settled(bench)
        assert servers.reports()[0].state == "ready"
        script.write_text("import os; os.system('touch done')")
        await servers.restart("talk")
        await until(lambda: servers.reports()[0].state == "failed")
        assert servers.reports()[0].reason.startswith("serve.py has changed since you agreed to it.")
        assert not (bench_folder / "done").exists()


def _failures(bench: Bench) -> list[str]:
    start = "The MCP server "
    return [event.text.removeprefix(start) for event in bench.log.of(Notice) if event.text.startswith(start)]


async def test_servers_get_no_api_key_and_end_with_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret-key-of-somebody")
    script: list[Answer] = [Reply([Call("mcp__talk__variables", {})]), OK]
    server = talkative(env={"FOR_THE_SERVER": "1"})
    async with agent.at_work(script, tmp_path, servers=[server]) as bench:
        servers = await all_settled(bench)
        await bench.ask("go")
        names = bench.results()[0].split()
        assert "FOR_THE_SERVER" in names
        assert not [name for name in names if "API_KEY" in name]
    assert servers.reports()[0].state == "stopped"
    assert not [task for task in asyncio.all_tasks() if task.get_name().startswith("MCP server")]


def _offered_by_name(bench: Bench, number: int) -> list[str]:
    tools = bench.server.requests[number].body["tools"]
    names = [tool.get("name") or tool["function"]["name"] for tool in tools]
    return [name for name in names if name.startswith("mcp_")]


async def test_where_descriptions_take_too_much_a_search_stands_in_for_them(
    tmp_path: Path, at_work: AtWork
) -> None:
    calls = tmp_path / "calls"
    search = Call("mcp_search", {"query": "make something"})
    unknown = Call("mcp__talk__echo", {"text": "not found yet"})
    script: list[Answer] = [OK, Reply([search]), Reply([make(), unknown]), CUT, OK]
    info = ModelInfo(provider="p", id="scripted", api="openai-chat", context_window=3_000)
    async with at_work(script, tmp_path, servers=[talkative(calls)], info=info, compact_at=0) as bench:
        await all_settled(bench)
        await bench.ask("hello")
        assert _offered_by_name(bench, 0) == ["mcp_search"]
        assert isinstance(await bench.ask("go"), TurnIncomplete)
        assert _offered_by_name(bench, 1) == ["mcp_search"]
        found = _offered_by_name(bench, 2)
        assert found[:2] == ["mcp_search", "mcp__talk__make"]
        assert "mcp__talk__die" not in found
        servers_of(bench).forget_found()  # as after the end of the program
        end = await bench.retry()
        assert isinstance(end, TurnDone)
        assert _offered_by_name(bench, 4) == [*found, *({"mcp__talk__echo"} - set(found))]
        assert noted(calls) == ["make a", "echo not found yet"]
        assert bench.results()[0].startswith("mcp__talk__make: Makes something.\nparameters: {")
        bench.assert_valid_requests()


async def test_a_search_also_stands_in_for_tools_where_the_context_window_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        mcp_servers, "MOST_SHARE", 0.01
    )  # of 32,000 tokens, which is less than these tools take
    async with agent.at_work([OK], tmp_path, servers=[talkative()]) as bench:
        assert bench.session.context_window is None
        await all_settled(bench)
        await bench.ask("hello")
        assert _offered_by_name(bench, 0) == ["mcp_search"]


async def test_the_person_stops_a_server_and_starts_it_again(tmp_path: Path) -> None:
    async with agent.at_work([OK, OK], tmp_path, servers=[talkative()]) as bench:
        servers = await all_settled(bench)
        service = ServerService(servers, tmp_path)
        await service.stop("talk")
        (report,) = service.servers()
        assert (report.state, report.tools) == ("stopped", ())
        await bench.ask("without it")
        assert _offered(bench, 0) == []
        await service.restart("talk")
        await all_settled(bench)
        await bench.ask("with it")
        assert "mcp__talk__make" in _offered(bench, 1)
        assert service.servers()[0].log[-1] == "talkative is starting"
        with pytest.raises(SessionRefused, match="There are: talk"):
            await service.stop("nobody")
