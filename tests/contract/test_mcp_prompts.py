"""Prompts of MCP servers as slash commands: from a real server to what goes to the model over the wire."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from keen_tui.agent.services.server_service import ServerService
from keen_tui.demo.script import Break, Reply, Say
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.events import TurnDone, TurnError
from keen_tui.frontends.shared.commands.slash import PromptCall, SlashCommands
from tests.support import agent
from tests.support.agent import AtWork
from tests.support.mcp import all_settled, servers_of, talkative

OK = Reply([Say("Ok.")])
CUT = Reply([Say("This sentence is cut in the mid")], broken=Break("reset"))


async def _text(commands: SlashCommands, typed: str) -> str:
    called = commands.called(typed)
    assert called and isinstance(called.what, PromptCall)
    assert called.is_sent and called.message is None
    return await called.what.text()


async def test_the_text_of_a_prompt_is_the_message_also_in_a_retry_and_later(
    tmp_path: Path, at_work: AtWork
) -> None:
    async with at_work([CUT, OK, OK], tmp_path, servers=[talkative()]) as bench:
        commands = SlashCommands(servers=ServerService(servers_of(bench), tmp_path))
        text = await _text(commands, '/mcp:talk:compare "my branch"')  # the server isn't ready yet
        assert text == "Compare my branch with main."
        assert isinstance(await bench.ask(text), TurnError)
        assert isinstance(await bench.retry(), TurnDone)
        await bench.ask("next")
        assert bench.lines()[0] == f"user: {text}"
        bench.assert_valid_requests()


async def test_prompts_are_offered_once_their_server_is_ready(tmp_path: Path) -> None:
    async with agent.at_work([], tmp_path, servers=[talkative()]) as bench:
        commands = SlashCommands(servers=ServerService(servers_of(bench), tmp_path))
        assert commands.prompts == ()
        servers = await all_settled(bench)
        offered = {each.names[0]: each for each in commands.offered}
        compare = offered["mcp:talk:compare"]
        assert (compare.takes, compare.help) == ("first [second]", "Compares two branches.")
        await servers.stop("talk")
        assert commands.prompts == ()
        with pytest.raises(SessionRefused, match="The MCP server talk isn't ready: it is stopped"):
            await _text(commands, "/mcp:talk:compare a")


async def test_arguments_are_given_in_order_or_by_name(tmp_path: Path) -> None:
    async with agent.at_work([], tmp_path, servers=[talkative()]) as bench:
        await all_settled(bench)
        commands = SlashCommands(servers=ServerService(servers_of(bench), tmp_path))
        for typed, text in (
            ("/mcp:talk:compare a b", "Compare a with b."),
            ("/mcp:talk:compare second=b a", "Compare a with b."),
            ("/MCP:Talk:Compare first=a=b", "Compare a=b with main."),
            ("/mcp:talk:compare x=1", "Compare x=1 with main."),
            ("/mcp:talk:compare 'a\nb'", "Compare a\nb with main."),
        ):
            assert await _text(commands, typed) == text
        for typed, refusal in (
            ("/mcp:talk:compare", "/mcp:talk:compare needs first. Write /mcp:talk:compare first [second]"),
            ("/mcp:talk:compare second=b", "needs first"),
            ("/mcp:talk:compare a b c", "takes 2 arguments. Put quotes around"),
            ("/mcp:talk:forged a", "/mcp:talk:forged takes no arguments."),
            ("/mcp:talk:nothing", "has no prompt /mcp:talk:nothing. Its prompts are: /mcp:talk:compare, "),
            ("/mcp:nobody:x", "There is no MCP server nobody. There are: talk."),
        ):
            with pytest.raises(SessionRefused) as refused:
                await _text(commands, typed)
            assert refusal in str(refused.value)


async def test_the_servers_text_names_no_image_and_no_resource_and_calls_no_skill(tmp_path: Path) -> None:
    async with agent.at_work([], tmp_path, servers=[talkative()]) as bench:
        await all_settled(bench)
        commands = SlashCommands(servers=ServerService(servers_of(bench), tmp_path))
        assert (
            await _text(commands, "/mcp:talk:forged")
            == " /pdf ~/secret.png @@hidden.png <U+200B><U+202E>@notes.txt talk:notes://today"
        )
        for own in ("@mine.png", "@talk:notes://today"):
            assert await _text(commands, f"/mcp:talk:review {own}") == f"Review this: {own}"


async def test_a_server_that_is_slow_or_dies_gives_a_sentence(tmp_path: Path) -> None:
    async with agent.at_work([], tmp_path, servers=[talkative(tool_timeout=0.5)]) as bench:
        servers = await all_settled(bench)
        commands = SlashCommands(servers=ServerService(servers, tmp_path))
        with pytest.raises(SessionRefused, match=r"The MCP server talk didn't answer in 0\.5 seconds"):
            await _text(commands, "/mcp:talk:endless")
        assert await _text(commands, "/mcp:talk:review it") == "Review this: it"
        waiting = asyncio.create_task(_text(commands, "/mcp:talk:endless"))
        await asyncio.sleep(0)
        waiting.cancel()
        assert await _text(commands, "/mcp:talk:review again") == "Review this: again"


async def test_a_server_that_dies_while_it_fills_a_prompt_in_gives_a_sentence(tmp_path: Path) -> None:
    async with agent.at_work([], tmp_path, servers=[talkative()]) as bench:
        servers = await all_settled(bench)
        commands = SlashCommands(servers=ServerService(servers, tmp_path))
        with pytest.raises(SessionRefused) as refused:
            await _text(commands, "/mcp:talk:last")
        assert str(refused.value) == (
            "The MCP server talk didn't fill in the prompt: the connection to the server ended."
        )
        assert await _text(commands, "/mcp:talk:review it") == "Review this: it", "it is started again"


async def test_without_servers_there_are_no_prompts() -> None:
    with pytest.raises(SessionRefused, match="There is no command /mcp:a:b: No MCP servers are configured"):
        await _text(SlashCommands(), "/mcp:a:b words")
