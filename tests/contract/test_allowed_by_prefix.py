"""A yes for the session to commands that begin alike."""

from __future__ import annotations

from pathlib import Path

from keen_tui.demo.script import Call, Reply, Say
from keen_tui.domain.events import ApprovalRequested, ToolFinished
from tests.support.agent import at_work


def bash(command: str) -> Reply:
    return Reply([Call("bash", {"command": command})])


async def test_a_yes_for_the_session_allows_commands_that_begin_so_and_no_others(tmp_path: Path) -> None:
    script = [
        bash("mktool plan a"),
        bash("mktool plan b | head -1"),
        bash("mktool apply"),
        Reply([Say("Done.")]),
    ]
    async with at_work(script, tmp_path, mode="ask") as bench:
        bench.session.submit("go")
        first = await bench.log.wait_for(ApprovalRequested)
        assert first.grant == "don't ask again for mktool plan * in this session"
        bench.session.answer(first.id, allow=True, scope="session")
        second = await bench.log.wait_for(ApprovalRequested, 2)
        assert second.target == "mktool apply"
        assert "mktool plan *" in bench.session.permitted.session
        bench.session.answer(second.id, allow=False)
        await bench.log.wait_for_end()
        ran = [each.result.ran for each in bench.log.of(ToolFinished)]
    assert ran == [True, True, False]
