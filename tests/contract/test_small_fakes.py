"""Smaller fakes do what they stand for: a disk that works, a provider whose bytes lie ready."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.demo.script import RawStream, Reply, Say
from keen_tui.domain.choices import Api
from keen_tui.providers.registry import APIS
from keen_tui.storage.journal import FileOpener, open_file
from tests.fuzz.canned import canned
from tests.support.breaking_file import Disk
from tests.support.client import parts_of, request
from tests.support.faults import encoded


@pytest.mark.parametrize("opener", [open_file, Disk().open], ids=["real", "fake"])
async def test_a_file_takes_what_is_written_at_its_end(tmp_path: Path, opener: FileOpener) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"one\n")
    file = await opener(path)
    assert await file.write(b"two\nhalf") == 8
    await file.flush()
    assert path.read_bytes() == b"one\ntwo\nhalf"
    await file.truncate(8)
    assert path.read_bytes() == b"one\ntwo\n"
    await file.close()


@pytest.mark.parametrize("opener", [open_file, Disk().open], ids=["real", "fake"])
async def test_a_file_that_can_not_be_opened_is_an_error_of_the_system(
    tmp_path: Path, opener: FileOpener
) -> None:
    with pytest.raises(OSError):
        await opener(tmp_path)


@pytest.mark.parametrize("api", APIS)
async def test_a_body_that_lies_ready_is_read_as_over_the_wire(api: Api) -> None:
    bodies: list[bytes] = []

    def answer(asked: object) -> RawStream:
        bodies.append(encoded(Reply([Say("All of it.")]), asked))  # type: ignore[arg-type]
        return RawStream(bodies[-1])

    over_the_wire = await parts_of(answer, api=api)
    provider = canned(api, [bodies[0][:40], bodies[0][40:]])
    ready = [part async for part in provider.stream_step(request())]
    assert ready == over_the_wire
