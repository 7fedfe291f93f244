"""AGENTS.md in the requests of a session: the same from first to last, whatever happens on the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.demo.script import Reply, Say
from keen_tui.domain.choices import Api
from keen_tui.domain.events import Notice
from keen_tui.providers.registry import APIS
from tests.support.program import Program
from tests.support.saving import SavedBench, place

OK = Reply([Say("Ok.")])

each_api = pytest.mark.parametrize("api", APIS)


def notices(program: SavedBench) -> list[str]:
    return [event.text for event in program.log.of(Notice)]


@each_api
async def test_instructions_stand_in_every_request_and_in_the_context_view(tmp_path: Path, api: Api) -> None:
    async with place(tmp_path, api, [OK, OK]) as here:
        here.workspace.mkdir()
        (here.workspace / "AGENTS.md").write_text('Run "make check".\n')
        async with here.program() as program:
            assert notices(program) == ["Instructions: AGENTS.md (18 B)."]
            for words in ("u1", "u2"):
                report = await program.session.context(words)
                await program.ask(words)
                assert 'Run "make check".' in program.system()
                assert report.totals[0].bytes == len(program.server.requests[-1].raw)
                system, instructions, *_ = report.parts
                assert system.sizes[0].text + instructions.sizes[0].text == program.system()
                assert (instructions.kind, instructions.label) == ("instructions", "AGENTS.md")
            assert program.system(0) == program.system(1)


async def test_a_change_is_told_once_and_used_by_the_next_session(tmp_path: Path) -> None:
    async with place(tmp_path, "openai-chat", [OK] * 5) as here:
        here.workspace.mkdir()
        file = here.workspace / "AGENTS.md"
        file.write_text("one way\n")
        async with here.program() as program:
            await program.ask("u1")
            file.write_text("another way\n")
            await program.ask("u2")
            await program.log.wait_for(Notice, 2)
            await program.ask("u3")
            assert "one way" in program.system()
            assert notices(program)[1:] == [
                "AGENTS.md has changed. This session keeps the earlier version: /new and /fork read it again."
            ]
            await program.history.fork()
            await program.ask("u4")
            assert "another way" in program.system()
            assert "user: u1" in program.lines()
            session = program.history.session_id
        file.unlink()
        async with here.program(session) as program:
            await program.ask("u5")
            assert "way" not in program.system().partition("Platform:")[2]


async def test_a_session_nobody_writes_in_leaves_no_file(tmp_path: Path) -> None:
    async with place(tmp_path, "openai-chat", []) as here:
        here.workspace.mkdir()
        (here.workspace / "AGENTS.md").write_text("one way\n")
        async with here.program() as program:
            assert notices(program)
            file = program.file
        assert not file.exists()


async def test_without_a_screen_it_is_told_on_standard_error(tmp_path: Path) -> None:
    program = Program(tmp_path)
    (program.workspace / "AGENTS.md").write_text("Be brief.\u200b\n")
    async with place(tmp_path / "place", "openai-chat", [OK, OK]) as here:
        given = {"OPENAI_BASE_URL": here.server.base_url, "OPENAI_API_KEY": "k" * 20}
        run = await program.run("-p", "u1", "--model", "m", **given)
        assert run.out == "Ok.\n"
        assert "! Instructions: AGENTS.md (13 B, without 1 invisible character in it)." in run.err
        again = await program.run("--continue", "-p", "u2", "--model", "m", **given)
        assert again.err.count("Instructions:") == 1
