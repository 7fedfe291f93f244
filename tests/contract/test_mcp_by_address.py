"""MCP servers at an address, in a session: the SDK's server behind a real port, by streamable HTTP and by
server-sent events."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from keen_tui.demo.script import Answer, Call, Reply, Say
from keen_tui.domain.events import Notice, QuestionAsked, ToolOutput, TurnDone, TurnIncomplete
from keen_tui.domain.facts.server_called import CalledTool
from tests.support import agent
from tests.support.agent import AtWork
from tests.support.mcp import HttpProgram, all_settled, http_program, noted, servers_of
from tests.support.waiting import until

OK = Reply([Say("Ok.")])


def make(name: str = "a") -> Call:
    return Call("mcp__talk__make", {"name": name})


@pytest.fixture
async def program(tmp_path: Path) -> AsyncIterator[HttpProgram]:
    async with http_program(tmp_path / "calls") as running:
        yield running


@pytest.fixture
async def sse(tmp_path: Path) -> AsyncIterator[HttpProgram]:
    async with http_program(tmp_path / "calls", "sse") as running:
        yield running


async def test_tools_progress_and_images_come_through(
    tmp_path: Path, at_work: AtWork, program: HttpProgram
) -> None:
    slow = Call("mcp__talk__slow", {"seconds": 0.1})
    script: list[Answer] = [Reply([make()]), Reply([slow]), Reply([Call("mcp__talk__picture", {})]), OK]
    async with at_work(script, tmp_path, servers=[program.server()]) as bench:
        servers = await all_settled(bench)
        assert servers.reports()[0].protocol == "2026-07-28"
        end = await bench.ask("go")
        assert isinstance(end, TurnDone)
        made, waited, picture = bench.results()
        assert (made, waited) == ("made a", "at last")
        assert picture.startswith("[image, image/png, 70 B")
        said = "".join(event.text for event in bench.log.of(ToolOutput))
        assert said == "".join(f"{step} of 4: step {step}\n" for step in range(1, 5))
        assert end.turn_memory.called == (
            CalledTool(server="talk", tool="make", done=1),
            CalledTool(server="talk", tool="slow", done=1),
            CalledTool(server="talk", tool="picture", done=1),
        )
        bench.assert_valid_requests()


async def test_esc_cancels_the_call_on_the_server(tmp_path: Path, program: HttpProgram) -> None:
    calls = tmp_path / "calls"
    script: list[Answer] = [Reply([Call("mcp__talk__slow", {"seconds": 600})]), Reply([make()]), OK]
    async with agent.at_work(script, tmp_path, servers=[program.server()]) as bench:
        await all_settled(bench)
        bench.session.submit("go")
        await bench.log.wait_for(ToolOutput)
        bench.session.stop()
        end = await bench.log.wait_for_end()
        assert isinstance(end, TurnIncomplete)
        assert [call.name for call in end.unknown_calls] == ["mcp__talk__slow"]
        await until(lambda: noted(calls) == ["slow began", "slow was cancelled"])
        await bench.retry()
        assert bench.results()[-1] == "made a"


async def test_a_servers_question_is_put_to_the_person(tmp_path: Path, program: HttpProgram) -> None:
    script: list[Answer] = [Reply([Call("mcp__talk__asks_first", {})]), OK]
    async with agent.at_work(script, tmp_path, servers=[program.server()]) as bench:
        await all_settled(bench)
        bench.session.submit("go")
        asked = await bench.log.wait_for(QuestionAsked)
        bench.session.reply(asked.id, 0, "Ada")
        asked = await bench.log.wait_for(QuestionAsked, 2)
        bench.session.reply(asked.id, 0, "40")
        await bench.log.wait_for_end()
        assert bench.results() == ["accept name='Ada' age=40"]


async def test_a_server_that_goes_away_in_mid_call_gives_an_error_result_and_can_be_restarted(
    tmp_path: Path, program: HttpProgram
) -> None:
    calls = tmp_path / "calls"
    slow = Call("mcp__talk__slow", {"seconds": 600})
    script: list[Answer] = [Reply([slow]), Reply([make()]), OK, Reply([make("b")]), OK]
    async with agent.at_work(script, tmp_path, servers=[program.server(startup_timeout=2.0)]) as bench:
        servers = await all_settled(bench)
        bench.session.submit("go")
        await bench.log.wait_for(ToolOutput)
        await program.end()
        assert isinstance(await bench.log.wait_for_end(), TurnDone)
        gone, refused = bench.results()
        assert "effects are unknown" in gone
        assert refused.startswith("Error: make of the MCP server talk: ")
        await until(lambda: servers.reports()[0].state == "failed")
        await program.start()
        await servers.restart("talk")
        await all_settled(bench)
        await bench.ask("next")
        assert bench.results()[-1] == "made b"
        assert noted(calls) == ["slow began", "make b"]


async def test_a_server_that_was_started_anew_is_used_again(tmp_path: Path, program: HttpProgram) -> None:
    grow = Call("mcp__talk__grow", {})
    script: list[Answer] = [Reply([grow]), OK, OK, Reply([make("b")]), Reply([make("c")]), OK]
    async with agent.at_work(script, tmp_path, servers=[program.server()]) as bench:
        servers = await all_settled(bench)
        before = len(servers.reports()[0].tools)
        await bench.ask("go")
        await until(lambda: len(servers.reports()[0].tools) == before + 1)
        await bench.ask("a turn, in which the other lists are asked for, too")
        await program.end()
        await program.start()
        await bench.ask("next")
        assert bench.results() == ["made b", "made c"]


async def test_a_changed_list_of_tools_counts_from_the_next_turn_on(
    tmp_path: Path, program: HttpProgram
) -> None:
    script: list[Answer] = [
        Reply([Call("mcp__talk__grow", {})]),
        OK,
        Reply([Call("mcp__talk__grown", {})]),
        OK,
    ]
    async with agent.at_work(script, tmp_path, servers=[program.server()]) as bench:
        servers = await all_settled(bench)
        before = len(servers.reports()[0].tools)
        await bench.ask("go")
        await until(lambda: len(servers.reports()[0].tools) == before + 1)
        await bench.ask("next")
        assert bench.results() == ["grown"]


async def test_a_list_that_changes_while_the_server_is_away_is_asked_for_again(
    tmp_path: Path, program: HttpProgram
) -> None:
    script: list[Answer] = [Reply([Call("mcp__talk__grow", {})]), OK, Reply([make()]), OK]
    async with agent.at_work(script, tmp_path, servers=[program.server()]) as bench:
        servers = await all_settled(bench)
        before = len(servers.reports()[0].tools)
        await bench.ask("go")
        await until(lambda: len(servers.reports()[0].tools) == before + 1)
        await bench.ask("a turn, in which the other lists are asked for, too")
        await program.end()
        await program.start()
        await until(lambda: len(servers.reports()[0].tools) == before)
        assert not [event for event in bench.log.of(Notice) if "talk" in event.text]


async def test_an_old_server_by_server_sent_events(tmp_path: Path, sse: HttpProgram) -> None:
    calls = tmp_path / "calls"
    slow = Call("mcp__talk__slow", {"seconds": 600})
    script: list[Answer] = [
        Reply([make()]),
        Reply([Call("mcp__talk__grow", {})]),
        Reply([slow]),
        Reply([Call("mcp__talk__grown", {})]),
        OK,
    ]
    async with agent.at_work(script, tmp_path, servers=[sse.server()]) as bench:
        servers = await all_settled(bench)
        before = len(servers.reports()[0].tools)
        bench.session.submit("go")
        await bench.log.wait_for(ToolOutput)
        bench.session.stop()
        await bench.log.wait_for_end()
        await until(lambda: noted(calls) == ["make a", "slow began", "slow was cancelled"])
        await until(lambda: len(servers.reports()[0].tools) == before + 1)
        await bench.ask("next")
        assert bench.results()[-1] == "grown"


async def test_no_failure_shows_the_address_with_its_token(tmp_path: Path, sse: HttpProgram) -> None:
    server = sse.server(name="talk", more="/nowhere?access=hunter2", written="http://x/${ACCESS}")
    async with agent.at_work([OK], tmp_path, servers=[server]) as bench:
        await all_settled(bench)
        (report,) = servers_of(bench).reports()
        assert (report.state, report.place) == ("failed", "http://x/${ACCESS}")
        assert report.reason == "the server answered with HTTP 404"
        await until(lambda: bool(bench.log.of(Notice)))
        assert "hunter2" not in str(bench.log.of(Notice))
