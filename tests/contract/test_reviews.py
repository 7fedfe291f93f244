"""Reviews beside a session, with real git, a real session and a scripted model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from keen_tui.agent.review.review import Review
from keen_tui.agent.review.review_service import ReviewService
from keen_tui.demo.model_server import ModelServer, Script
from keen_tui.demo.script import NoAnswer
from keen_tui.domain.errors import ConfigError, SessionRefused
from keen_tui.domain.review import ReviewWish
from keen_tui.settings.schema import Settings
from keen_tui.tools.review.review_diff import ReviewDiff, read_diff
from keen_tui.wiring.parts import build_store
from keen_tui.wiring.reviews import build_review
from tests.support.client import client_of
from tests.support.git_repository import repository
from tests.support.reviews import finding, reporting
from tests.support.waiting import until


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with an uncommitted change."""
    work = repository(tmp_path / "work")
    (work / "a.txt").write_text("two\n")
    return work


@asynccontextmanager
async def service(folder: Path, script: Script) -> AsyncIterator[tuple[ReviewService, ModelServer]]:
    environ: Mapping[str, str] = {"KEEN_HOME": str(folder.parent / "home"), "PATH": "/usr/bin:/bin"}

    async with ModelServer(script) as server, client_of(server) as provider:

        def read(wish: ReviewWish) -> ReviewDiff:
            return read_diff(folder, wish, environ=environ)

        def build(diff: ReviewDiff) -> Review:
            sibling = provider.sibling(searches=False)
            return build_review(Settings(), sibling, None, build_store(environ), environ, diff)

        yield ReviewService(read, build), server


async def test_a_review_ends_with_its_findings(folder: Path) -> None:
    async with service(folder, reporting(finding())) as (reviews, _):
        assert reviews.newest is None
        await reviews.begin(ReviewWish())
        await reviews.ended()
        assert reviews.newest
        assert [each.place for each in reviews.newest.findings] == ["a.txt:1"]
        assert (reviews.newest.state, reviews.newest.calls, reviews.running) == ("done", 1, False)


async def test_one_review_runs_at_a_time_and_a_stopped_one_is_incomplete(folder: Path) -> None:
    async with service(folder, [NoAnswer()]) as (reviews, server):
        await reviews.begin(ReviewWish())
        await server.wait_for_requests(1)
        with pytest.raises(SessionRefused, match="A review is running"):
            await reviews.begin(ReviewWish())
        reviews.stop()
        await reviews.ended()
        assert reviews.newest
        assert (reviews.newest.state, reviews.newest.detail) == ("error", "You stopped it.")


async def test_a_review_that_cant_begin_leaves_the_newest_one(folder: Path) -> None:
    async with service(folder, reporting()) as (reviews, _):
        with pytest.raises(ConfigError, match="nowhere"):
            await reviews.begin(ReviewWish("base", "nowhere"))
        assert (reviews.newest, reviews.running) == (None, False)


async def test_nothing_to_review_is_done_at_once(folder: Path) -> None:
    (folder / "a.txt").write_text("one\n")
    async with service(folder, []) as (reviews, server):
        await reviews.begin(ReviewWish("uncommitted"))
        assert reviews.newest
        assert (reviews.newest.state, reviews.newest.summary) == ("done", "There are no changes to review.")
        assert not server.requests


async def test_the_end_of_the_program_ends_the_review_and_saves_it(folder: Path) -> None:
    async with service(folder, [NoAnswer()]) as (reviews, server):
        await reviews.begin(ReviewWish())
        await server.wait_for_requests(1)
        task = next(each for each in asyncio.all_tasks() if each.get_name() == "review")
        task.cancel()
        await until(lambda: task.done())
        saved = list((folder.parent / "home").rglob("*.jsonl"))
        assert any("Keen ended while this turn was running." in file.read_text() for file in saved)
