"""A summary is part of the session: undone, left, opened again and forked behind it and before it."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.domain.choices import Api
from keen_tui.domain.events import Compacted, TurnDone, TurnUndone
from keen_tui.providers.registry import APIS
from tests.support.compacting import SUMMARISED, SUMMARY, TOLD, assistant, block, folded, user, work
from tests.support.faults import DONE
from tests.support.saving import place


@pytest.mark.parametrize("api", APIS)
async def test_behind_a_summary_changes_are_undone_and_the_session_goes_on_elsewhere(
    tmp_path: Path, api: Api
) -> None:
    async with place(tmp_path, api, [work("a.py"), DONE, work("b.py"), DONE, SUMMARY, DONE, DONE]) as here:
        async with here.program() as bench:
            name = bench.history.session_id
            await bench.ask("u1")
            await bench.ask("u2")
            assert isinstance(await bench.compact(), Compacted)
            await bench.changes.undo(2)
            await bench.log.wait_for(TurnUndone)
            assert [(here.workspace / path).exists() for path in ("a.py", "b.py")] == [True, False]
            before = bench.session.conversation
            assert [message.turn for message in before] == [2, 2, 2]
            assert before == folded(bench)
        async with here.program(name) as bench:
            assert bench.session.conversation == before
            end = await bench.ask("u3")
            assert isinstance(end, TurnDone) and end.turn == 3
            assert bench.messages()[0] == SUMMARISED and bench.messages()[-1] == user("u3")
            said = "\n".join(message.text for message in bench.messages() if message.role == "assistant")
            assert said.startswith(TOLD + block("a.py", "b.py"))
            assert said.endswith("(changes of turn 2 undone)\n\nTool memory:\n- Files changed: b.py")
            bench.assert_valid_requests()


@pytest.mark.parametrize("api", APIS)
async def test_a_fork_from_before_a_summary_has_the_messages_and_one_from_behind_it_the_summary(
    tmp_path: Path, api: Api
) -> None:
    script = [work("a.py"), DONE, work("b.py"), DONE, SUMMARY, DONE]
    async with place(tmp_path, api, script) as here, here.program() as bench:
        name = bench.history.session_id
        await bench.ask("u1")
        await bench.ask("u2")
        await bench.compact()
        await bench.history.fork(name, 1)
        texts = [message.text for message in bench.session.conversation]
        assert texts == ["u1", "I work.\n\nAll done."]
        await bench.history.fork(name)
        await bench.ask("u3")
        assert bench.messages() == [SUMMARISED, assistant(TOLD + block("a.py", "b.py")), user("u3")]
        bench.assert_valid_requests()
