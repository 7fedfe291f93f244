"""What a resumed session says of its next request: its size, beside the whole history."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.demo.script import Call, Reply, Say
from keen_tui.domain.choices import Api
from keen_tui.domain.events import Compacted
from keen_tui.providers.registry import APIS
from tests.support.agent import AtWork
from tests.support.compacting import SUMMARY
from tests.support.faults import DONE
from tests.support.saving import place

LOOK = Reply([Say("I look."), Call("bash", {"command": "seq 1 3000"})])
FRAME = 400
"""Bytes by which the whole history may be off: the JSON around its messages."""


async def test_the_whole_history_is_as_large_as_full_trace_would_send_it(
    tmp_path: Path, at_work: AtWork
) -> None:
    async with at_work([LOOK, DONE, LOOK, DONE], tmp_path) as bench:
        for text in ("one", "two"):
            await bench.ask(text)
        sizes = await bench.session.next_sizes()
        bench.session.set_policy("full-trace")
        whole = await bench.session.next_sizes()
        assert abs(sizes.whole_bytes - whole.next_bytes) < FRAME
        assert whole.whole_bytes == whole.next_bytes
        assert sizes.next_bytes + 20_000 < sizes.whole_bytes
        assert not sizes.is_summarised


@pytest.mark.parametrize("api", APIS)
async def test_a_resumed_session_knows_the_same(tmp_path: Path, api: Api) -> None:
    async with place(tmp_path, api, [LOOK, DONE]) as here:
        async with here.program() as bench:
            await bench.ask("one")
            before, name = await bench.session.next_sizes(), bench.history.session_id
        async with here.program(name) as bench:
            assert await bench.session.next_sizes() == before


async def test_after_a_summary_the_history_begins_with_it(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([LOOK, DONE, SUMMARY], tmp_path) as bench:
        await bench.ask("one")
        bench.session.compact()
        assert isinstance(await bench.log.wait_for_compaction(), Compacted)
        sizes = await bench.session.next_sizes()
        assert sizes.is_summarised
        assert abs(sizes.whole_bytes - sizes.next_bytes) < FRAME * 10
