"""Plays a turn, stops it at one point, and checks what docs/turn.md promises."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Answer, RecordedRequest
from keen_tui.domain.choices import Api
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.events import (
    ApprovalRequested,
    CompactionStarted,
    EndEvent,
    QuestionAsked,
    ShellFinished,
    ShellStarted,
    ToolFinished,
    ToolStarted,
    TurnDone,
    TurnStarted,
)
from keen_tui.tools.toolbox import build_toolbox
from tests.campaigns.stops.scripts import StopScript, prepare
from tests.support.agent import Bench, at_work
from tests.support.mcp import talkative
from tests.support.processes import processes_in
from tests.support.sub_agents import with_agents
from tests.support.suspensions import Suspensions
from tests.support.waiting import until_idle

MOST_RETRIES = 5


async def count_points(script: StopScript, api: Api, folder: Path) -> int:
    """At how many points the turn waits if nobody stops it."""
    suspensions = Suspensions()
    async with _playing(script, api, folder) as bench:
        with suspensions.watching():
            await _play(bench, script)
    return suspensions.count


async def stop_at(script: StopScript, api: Api, folder: Path, point: int) -> list[str]:
    """What doesn't hold when the turn is stopped, twice, at that point."""
    asked_by_then: list[int] = []

    async with _playing(script, api, folder) as bench:

        def stop() -> None:
            asked_by_then.append(len(bench.server.requests))
            bench.session.stop()
            bench.session.stop()

        with Suspensions(point, stop).watching():
            await _play(bench, script)
        problems = list(_broken(bench, asked_by_then, at_once=1 + len(script.tasks)))
        for _ in range(MOST_RETRIES):
            if not bench.log.ends or isinstance(bench.log.ends[-1], TurnDone):
                break
            await bench.retry()
            await until_idle(bench.session)
        else:
            problems.append(f"it doesn't get done: {bench.log.ends[-1]}")
        bench.assert_valid_requests()
        problems += _ran_twice(bench, folder)
    problems += (f"a process is left: {name}" for name in processes_in(folder))
    return problems


@asynccontextmanager
async def _playing(script: StopScript, api: Api, folder: Path) -> AsyncIterator[Bench]:
    work = folder / "work"
    work.mkdir(parents=True)
    prepare(script, work)
    failed: list[Answer] = []

    def answer(request: RecordedRequest) -> Answer:
        return script.answer(request, failed)

    async with AsyncExitStack() as stack:
        if script.tasks:
            environ = {"KEEN_HOME": str(folder / "home"), "HOME": str(folder)}
            server = await stack.enter_async_context(ModelServer(answer))
            playing = with_agents(folder, server, api, environ, hooks=script.hooks)
            saved = await stack.enter_async_context(playing)
            bench = Bench(saved.session, saved.log, server, saved.provider)
        else:
            servers = [talkative()] if script.server else []
            toolbox = build_toolbox(work, scratch=folder / "scratch", servers=servers)
            bench = await stack.enter_async_context(
                at_work(
                    answer,
                    work,
                    api=api,
                    toolbox=toolbox,
                    mode=script.mode,
                    hooks=script.hooks,
                    retries=script.retries,
                )
            )
        answering = asyncio.create_task(_answer(bench, allows=script.allows))
        try:
            yield bench
        finally:
            answering.cancel()


async def _play(bench: Bench, script: StopScript) -> None:
    session = bench.session
    if script.command:
        session.run_own(script.command)
    else:
        session.submit("go")
    if script.queued:
        (session.steer if script.steers else session.submit)(script.queued)
    await until_idle(session)
    if script.compacts:
        with suppress(SessionRefused):  # nothing was answered
            session.compact()
            await until_idle(session)
    await bench.log.caught_up()


async def _answer(bench: Bench, *, allows: bool) -> None:
    """Answer every question at once."""
    answered = 0
    while True:
        await bench.log.wait_for_more(answered)
        for event in bench.log.events[answered:]:
            with suppress(Exception):  # it may have been withdrawn by then
                if isinstance(event, ApprovalRequested):
                    bench.session.answer(event.id, allow=allows)
                elif isinstance(event, QuestionAsked):
                    bench.session.reply(event.id, 0)
            answered += 1


def _broken(bench: Bench, asked_by_then: list[int], *, at_once: int) -> Iterator[str]:
    """What doesn't hold right after the stop; `at_once` requests may have been under way at that moment."""
    log = bench.log
    if len(log.ends) != len(log.of(TurnStarted)):
        yield f"{len(log.of(TurnStarted))} turns have {len(log.ends)} ends"
    started = [event.id for event in log.of(ToolStarted)]
    finished = [event.id for event in log.of(ToolFinished)]
    if started != finished:
        yield f"calls that began: {started}, that ended: {finished}"
    if len(log.of(ShellStarted)) != len(log.of(ShellFinished)):
        yield "a command of the user began and didn't end, or ended twice"
    if asked_by_then and log.ends and len(bench.server.requests) > asked_by_then[0] + at_once:
        yield "the model was asked again after the stop"
    if asked_by_then and log.ends and not _fits(log.ends[-1]):
        yield f"it ended as {log.ends[-1]}"
    if len(log.of(CompactionStarted)) != len(log.compactions):
        yield "a summary began and didn't end, or ended twice"


def _fits(end: EndEvent) -> bool:
    return isinstance(end, TurnDone) or end.reason == "interrupted"


def _ran_twice(bench: Bench, folder: Path) -> Iterator[str]:
    counter = folder / "work/counter"
    ran = counter.read_text().split() if counter.exists() else []
    done = [
        event.arguments["command"]
        for event in bench.log.of(ToolFinished)
        if event.name == "bash" and event.result.outcome == "done" and isinstance(event.arguments, dict)
    ]
    for name in "abc":
        results = sum(f"echo {name} >> counter" in str(command) for command in done)
        if results > 1:
            yield f"{name} has {results} results"
        if results > ran.count(name):
            yield f"{name} has a result and didn't run"
