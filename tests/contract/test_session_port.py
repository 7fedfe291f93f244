"""What a screen may expect of a session: of the real one, of the fake one in tests of the screen, and of a
replay where it only watches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol

import pytest

from keen_tui.agent.services.playback import Playback
from keen_tui.demo.script import Answer, Call, NoAnswer, RecordedRequest, Reply, Say
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.events import (
    ApprovalAnswered,
    ApprovalRequested,
    MemoryEdited,
    MessageTakenBack,
    ModeChanged,
    PolicyChanged,
    QuestionAnswered,
    QuestionAsked,
    QueueChanged,
    TurnError,
    TurnStarted,
)
from keen_tui.domain.messages import TurnMemory
from keen_tui.domain.permitted import Permitted
from keen_tui.domain.reports import POLICIES
from keen_tui.frontends.shared.port import SessionControls, WatchedSession
from tests.support import story
from tests.support.agent import EventLog, at_work
from tests.support.fake_session import FakeSession
from tests.support.faults import refused
from tests.support.recording import recording
from tests.support.waiting import LIMIT, until

ASK = Call("ask_user", {"question": "Which database?", "choices": [{"label": "SQLite"}, {"label": "Dbm"}]})
OK = Reply([Say("Ok.")])


class WholeSession(WatchedSession, SessionControls, Protocol):
    """A session with its controls, as one at work is."""


class Watched(Protocol):
    """A session, and the events that it publishes."""

    @property
    def session(self) -> WatchedSession: ...

    @property
    def log(self) -> EventLog: ...


class Subject(Protocol):
    """A session, the events that it publishes, and ways to bring it into a state."""

    session: WholeSession
    log: EventLog

    async def finish(self) -> None:
        """Turn 1 is done."""

    async def run(self) -> None:
        """A turn runs, and does so until it is stopped."""

    async def fail(self, text: str) -> None:
        """Turn 1, which this message began, failed."""

    async def ask_approval(self) -> str:
        """An approval is open; gives the id of its call."""

    async def ask_question(self) -> str:
        """A question is open; gives the id of its call."""

    def refuse(self) -> None:
        """Nothing has happened yet that could be retried, discarded, edited, summarised or taken back."""


class Real:
    """A session with a provider and tools, against the scripted server."""

    def __init__(self, session: WholeSession, log: EventLog, answers: list[Answer]) -> None:
        self.session = session
        self.log = log
        self._answers = answers

    async def finish(self) -> None:
        await self._answered(OK, "work")
        await self.log.wait_for_end()

    async def run(self) -> None:
        await self._answered(NoAnswer("stall"), "work")
        await self.log.wait_for(TurnStarted)

    async def fail(self, text: str) -> None:
        await self._answered(refused(400, "no"), text)
        await self.log.wait_for(TurnError)

    async def ask_approval(self) -> str:
        await self._answered(Reply([Call("write_file", {"path": "a", "content": "x"})]), "work")
        return (await self.log.wait_for(ApprovalRequested)).id

    async def ask_question(self) -> str:
        await self._answered(Reply([ASK]), "work")
        return (await self.log.wait_for(QuestionAsked)).id

    def refuse(self) -> None:
        pass

    async def _answered(self, answer: Answer, text: str) -> None:
        self._answers.insert(0, answer)
        self.session.submit(text)


class Fake:
    """The session of tests of the screen, told what has happened."""

    def __init__(self, session: FakeSession) -> None:
        self._fake = session
        self.session: WholeSession = session
        self.log = EventLog(session.bus.subscribe())

    async def finish(self) -> None:
        self._fake.publish(story.started(1, "work"), story.done(1))

    async def run(self) -> None:
        self._fake.running = True
        self._fake.publish(story.started(1, "work"))

    async def fail(self, text: str) -> None:
        self._fake.failed_message = text
        self._fake.publish(story.started(1, text), story.failed(1))

    async def ask_approval(self) -> str:
        await self.run()
        self._fake.publish(story.approval(1, "a"))
        return "a"

    async def ask_question(self) -> str:
        await self.run()
        self._fake.publish(story.question(1, "q"))
        return "q"

    def refuse(self) -> None:
        self._fake.refusal = "There is nothing to do that with."


class Replay:
    """A saved session that is about to be played."""

    def __init__(self, session: Playback) -> None:
        self.session = session
        self.log = EventLog(session.bus.subscribe())


Open = Callable[[Path], AbstractAsyncContextManager[Subject]]


@asynccontextmanager
async def real(folder: Path) -> AsyncIterator[Subject]:
    answers: list[Answer] = []

    def answer(_: RecordedRequest) -> Answer:
        return answers.pop() if answers else OK

    async with at_work(answer, folder, mode="ask") as bench:
        yield Real(bench.session, bench.log, answers)
        # A request that is on its way arrives before the server closes.
        await until(lambda: not bench.session.running or bench.server.open_streams)


@asynccontextmanager
async def fake(folder: Path) -> AsyncIterator[Subject]:
    subject = Fake(FakeSession(folder))
    yield subject
    await subject.session.close()


@asynccontextmanager
async def replay(folder: Path) -> AsyncIterator[Watched]:
    watched = Replay(Playback(recording([]), folder, speed=0))
    yield watched
    await watched.session.close()


@pytest.fixture(params=[real, fake, replay], ids=["real", "fake", "replay"])
async def watched(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Watched]:
    """One of them in a state in which nothing has happened, to be watched and no more."""
    opened: Callable[[Path], AbstractAsyncContextManager[Watched]] = request.param
    async with opened(tmp_path) as watched:
        yield watched


@pytest.fixture(params=[real, fake], ids=["real", "fake"])
async def subject(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Subject]:
    """One of them in a state in which nothing has happened."""
    opened: Open = request.param
    async with opened(tmp_path) as subject:
        yield subject


async def test_a_new_one_is_idle_and_empty(watched: Watched, tmp_path: Path) -> None:
    session = watched.session
    assert session.workspace == tmp_path
    assert (session.running, session.pending, session.queue) == (False, None, ())
    assert (session.mode, session.policy, session.permitted) == ("ask", "summary", Permitted())
    assert session.model and session.server and session.effort == ""


async def test_modes_and_policies_are_changed_and_told(subject: Subject) -> None:
    subject.session.set_mode("plan")
    subject.session.set_policy("full-trace")
    assert (subject.session.mode, subject.session.policy) == ("plan", "full-trace")
    assert (await subject.log.wait_for(ModeChanged)).mode == "plan"
    assert (await subject.log.wait_for(PolicyChanged)).policy == "full-trace"


async def test_a_message_that_is_sent_to_a_running_turn_waits_and_can_be_withdrawn(subject: Subject) -> None:
    await subject.run()
    assert subject.session.running
    for text in ("first", "second"):
        subject.session.submit(text)
    assert list(subject.session.queue) == ["first", "second"]
    assert (await subject.log.wait_for(QueueChanged, 2)).texts == ("first", "second")
    assert subject.session.withdraw_queued() == "second"
    assert (await subject.log.wait_for(QueueChanged, 3)).texts == ("first",)
    assert list(subject.session.queue) == ["first"]
    assert subject.session.withdraw_queued() == "first"
    assert subject.session.withdraw_queued() is None
    await subject.log.caught_up()
    assert len(subject.log.of(QueueChanged)) == 4


@pytest.mark.parametrize("allow", [True, False])
async def test_an_open_approval_is_answered_once(subject: Subject, allow: bool) -> None:
    call = await subject.ask_approval()
    subject.session.answer(call, allow=allow, scope="session" if allow else "once", message="so")
    answered = await subject.log.wait_for(ApprovalAnswered)
    assert (answered.turn, answered.id, answered.by, answered.message) == (1, call, "user", "so")
    assert (answered.allowed, answered.for_session) == (allow, allow)
    with pytest.raises(SessionRefused):
        subject.session.answer(call, allow=True)
    with pytest.raises(SessionRefused):
        subject.session.answer("another", allow=True)


@pytest.mark.parametrize(("choice", "words"), [(1, ""), (2, "Postgres"), (None, "")])
async def test_an_open_question_is_answered_once(subject: Subject, choice: int | None, words: str) -> None:
    call = await subject.ask_question()
    subject.session.reply(call, choice, words)
    answered = await subject.log.wait_for(QuestionAnswered)
    assert (answered.turn, answered.id, answered.by) == (1, call, "user")
    assert (answered.choice, answered.words) == (choice, words)
    with pytest.raises(SessionRefused):
        subject.session.reply(call, choice, words)


async def test_the_message_of_a_failed_turn_is_taken_back(subject: Subject) -> None:
    await subject.fail("typed once")
    subject.session.discard()
    assert (await subject.log.wait_for(MessageTakenBack)).text == "typed once"


async def test_what_is_remembered_of_a_turn_is_edited(subject: Subject) -> None:
    await subject.finish()
    memory = TurnMemory(files_changed=("a.py",))
    subject.session.edit_memory(1, memory)
    edited = await subject.log.wait_for(MemoryEdited)
    assert (edited.turn, edited.turn_memory) == (1, memory)
    assert edited.carried_bytes > 0


async def test_what_is_refused_changes_nothing_and_is_not_told(subject: Subject) -> None:
    subject.refuse()
    session = subject.session
    for refusal in (
        session.retry,
        session.discard,
        session.compact,
        lambda: session.edit_memory(7, TurnMemory()),
        lambda: session.answer("none", allow=True),
        lambda: session.reply("none", 0),
    ):
        with pytest.raises(SessionRefused):
            refusal()
    with pytest.raises(SessionRefused):
        await session.take_back("git push")
    await subject.log.caught_up()
    changed = (
        ApprovalAnswered | QuestionAnswered | MemoryEdited | MessageTakenBack | ModeChanged | PolicyChanged
    )
    assert not [event for event in subject.log.events if isinstance(event, changed)]
    assert (session.running, session.pending, session.queue) == (False, None, ())


async def test_a_stop_while_idle_does_nothing(watched: Watched) -> None:
    await watched.log.caught_up()
    before = len(watched.log.events)
    watched.session.stop()
    await watched.log.caught_up()
    assert len(watched.log.events) == before
    assert not watched.session.running


async def test_the_context_is_that_of_the_policy_in_use(subject: Subject) -> None:
    report = await subject.session.context()
    assert report.policy == subject.session.policy
    assert report.window == subject.session.context_window
    assert len(report.totals) == len(POLICIES)


async def test_what_follows_the_warming_up_is_done_once(subject: Subject) -> None:
    done: list[str] = []
    subject.session.warm_up(lambda: done.append("then"))
    await until(lambda: done)
    await subject.session.close()
    assert done == ["then"]


async def test_a_closed_one_publishes_nothing_more(watched: Watched) -> None:
    reader = watched.session.bus.subscribe()

    async def read() -> None:
        async for _ in reader:
            pass

    reading = asyncio.create_task(read())
    await watched.session.close()
    await asyncio.wait_for(reading, LIMIT)
