"""`open_session`: a program runs turns, decides about calls, answers questions, and leaves when it likes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

import keen_tui
from keen_tui import (
    Allow,
    Approval,
    ConfigError,
    Deny,
    ModelMissing,
    SessionRefused,
    StorageFailed,
    TurnMemory,
    UserAnswer,
    UserQuestion,
    event_record,
    events,
)
from keen_tui.demo.script import Break, Call, Reply, Say
from keen_tui.demo.wires import seen
from keen_tui.text.redaction import MASK
from tests.support.programs_api import all_of, api_world, of
from tests.support.waiting import LIMIT, until

WRITE = Call("write_file", {"path": "a.py", "content": "x\n"})
EDIT = Call("edit_file", {"path": "a.py", "old_text": "x", "new_text": "y"})
OK = Reply([Say("Ok.")])
CUT = Reply([Say("This sentence is cut in the mid")], broken=Break("reset"))
STALLED = Reply([Say("One moment")], broken=Break("stall"))

Worlds = Callable[..., Any]


@pytest.fixture
async def worlds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Worlds]:
    """Makes the world of a script, given as answers or as a function."""

    def world(*script: Any) -> Any:
        answers = script[0] if script and callable(script[0]) else script
        return api_world(tmp_path, monkeypatch, answers)

    yield world


def asked(script_call: Call, *more: Reply) -> tuple[Reply, ...]:
    return (Reply([script_call]), *(more or (OK,)))


# Turns


async def test_a_turn_is_its_events_and_leaves_its_memory(worlds: Worlds) -> None:
    async with worlds(*asked(WRITE), OK) as world, world.open(mode="auto-edit") as session:
        found = await all_of(session.ask("go"))
        assert [type(event).__name__ for event in found if event_record(event)["type"] != "text_delta"] == [
            "TurnStarted", "Usage", "ToolStarted", "ToolFinished", "Usage", "TurnDone",
        ]  # fmt: skip
        assert session.memory == {1: TurnMemory(files_changed=("a.py",))}
        assert [message.text for message in session.conversation] == ["go", "Ok."]
        assert (session.pending, session.running, session.model) == (None, False, "scripted")
        assert (await session.ask("and now?").end()).turn == 2
        assert "Files changed: a.py" in seen(world.server.requests[-1])[2].text


async def test_what_it_told_is_saved_already(worlds: Worlds) -> None:
    async with worlds(*asked(WRITE)) as world, world.open(mode="auto-edit") as session:
        async for event in session.ask("go"):
            if isinstance(event, events.ToolFinished):
                (file,) = world.home.glob(f"sessions/*/{session.id}.jsonl")
                assert '"tool_finished"' in file.read_text()


async def test_a_turn_that_broke_off_is_retried_from_its_last_result(worlds: Worlds) -> None:
    async with worlds(Reply([WRITE]), CUT, OK) as world, world.open(mode="auto-edit") as session:
        end = await session.ask("go").end()
        assert isinstance(end, events.TurnIncomplete)
        assert session.pending
        assert (session.pending.calls, session.pending.memory.files_changed) == (1, ("a.py",))
        assert isinstance(await session.retry().end(), events.TurnDone)
        assert session.pending is None
        assert len(world.results()) == 1
        with pytest.raises(SessionRefused, match="Nothing to retry"):
            await session.retry().end()


async def test_a_turn_that_broke_off_can_be_discarded(worlds: Worlds) -> None:
    async with worlds(Reply([WRITE]), CUT) as world, world.open(mode="auto-edit") as session:
        await session.ask("go").end()
        session.discard()
        assert session.pending is None
        assert session.memory[1].files_changed == ("a.py",)


async def test_stop_ends_the_turn_with_its_event(worlds: Worlds) -> None:
    async with worlds(STALLED, OK) as world, world.open() as session:
        found = []
        async for event in session.ask("go"):
            found.append(event)
            if isinstance(event, events.TextDelta):
                session.stop()
        (end,) = of(events.TurnError, found)
        assert end.reason == "interrupted"
        assert isinstance(await session.ask("again").end(), events.TurnDone)


async def test_leaving_the_loop_stops_the_turn_and_the_next_one_follows_it(worlds: Worlds) -> None:
    async with worlds(STALLED, OK) as world, world.open() as session:
        async for event in session.ask("go"):
            if isinstance(event, events.TextDelta):
                break
        assert session.running
        await until(lambda: not session.running)
        assert isinstance(await session.ask("again").end(), events.TurnDone)


async def test_leaving_and_asking_at_once_runs_the_new_turn(worlds: Worlds) -> None:
    async with worlds(STALLED, OK) as world, world.open() as session:
        async with aclosing(session.ask("go")) as turn:
            async for event in turn:
                if isinstance(event, events.TextDelta):
                    break
        assert isinstance(await session.ask("again").end(), events.TurnDone)
        assert await all_of(turn) == []
        with pytest.raises(SessionRefused, match="has no end"):
            await turn.end()


async def test_an_old_turn_that_is_dropped_late_stops_no_other(worlds: Worlds) -> None:
    slow = Reply([Say("a long reply, bit by bit")], pace=0.01)
    async with worlds(OK, slow) as world, world.open() as session:
        old = session.ask("one")
        async for event in old:
            if isinstance(event, events.Usage):
                break
        await until(lambda: not session.running)
        new = session.ask("two")
        await anext(new)
        del old
        assert isinstance(await new.end(), events.TurnDone)


async def test_a_task_that_is_cancelled_stops_its_turn(worlds: Worlds) -> None:
    async with worlds(STALLED, OK) as world, world.open() as session:
        reading = asyncio.create_task(session.ask("go").end())
        await until(lambda: world.server.requests)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        del reading
        await until(lambda: not session.running)
        assert isinstance(await session.ask("again").end(), events.TurnDone)


async def test_one_session_runs_one_turn_at_a_time(worlds: Worlds) -> None:
    async with worlds(STALLED) as world, world.open() as session:
        turn = session.ask("go")
        await anext(turn)
        with pytest.raises(SessionRefused, match="A turn is running"):
            await session.ask("another").end()
        with pytest.raises(SessionRefused, match="The message is empty"):
            session.stop()
            await session.ask(" ").end()


async def test_two_sessions_work_at_once_in_one_folder(worlds: Worlds) -> None:
    both = threading.Barrier(2, timeout=LIMIT)

    def approve(_: Approval) -> Allow:
        both.wait()  # each waits for the other: neither holds the event loop
        return Allow()

    def script(request: Any) -> Reply:
        said = seen(request)
        if said[-1].role == "tool":
            return OK
        return Reply([Call("write_file", {"path": said[-1].text, "content": "x"})])

    async with (
        worlds(script) as world,
        world.open(approve=approve) as one,
        world.open(approve=approve) as two,
    ):
        ends = await asyncio.gather(one.ask("a.py").end(), two.ask("b.py").end())
        assert [end.turn_memory.files_changed for end in ends] == [("a.py",), ("b.py",)]
        assert one.id != two.id


async def test_a_session_that_is_left_in_the_middle_ends_its_turn(worlds: Worlds) -> None:
    async with worlds(STALLED) as world:
        async with world.open() as session:
            turn = session.ask("go")
            await anext(turn)
        end = await turn.end()
        assert isinstance(end, events.TurnError)
        assert "Keen ended" in end.detail
        with pytest.raises(SessionRefused, match="The session is closed"):
            await session.ask("more").end()


# Approvals


async def test_the_callback_decides_and_sees_what_would_happen(worlds: Worlds) -> None:
    seen_calls: list[Approval] = []

    async def approve(call: Approval) -> Allow | Deny:
        seen_calls.append(call)
        return Allow() if call.tool == "write_file" else Deny("Not that one.")

    run = Call("bash", {"command": "rm -rf build; touch b"})
    async with worlds(Reply([WRITE, run]), OK) as world, world.open(approve=approve) as session:
        found = await all_of(session.ask("go"))
        written, removed = seen_calls
        assert (written.tool, written.target, written.diff) == ("write_file", "a.py", "+x")
        assert written.grant == "allow all edits in this workspace for this session"
        assert removed.command == "rm -rf build; touch b"
        assert removed.risks
        assert "Not that one." in world.results()[1]
        assert [event.allowed for event in of(events.ApprovalAnswered, found)] == [True, False]
        with pytest.raises(AttributeError):
            written.tool = "other"  # type: ignore[misc]


async def test_a_yes_for_the_session_is_asked_once(worlds: Worlds) -> None:
    asked_for: list[str] = []

    def approve(call: Approval) -> Allow:
        asked_for.append(call.target)
        return Allow(scope="session")

    async with worlds(Reply([WRITE]), Reply([EDIT]), OK) as world, world.open(approve=approve) as session:
        end = await session.ask("go").end()
        assert end.turn_memory.files_changed == ("a.py",)
        assert asked_for == ["a.py"]


async def test_without_a_callback_calls_are_denied_and_the_reason_names_it(worlds: Worlds) -> None:
    async with worlds(*asked(WRITE)) as world, world.open() as session:
        (answered,) = of(events.ApprovalAnswered, await all_of(session.ask("go")))
        assert (answered.allowed, answered.by) == (False, "headless")
        assert "approve=" in answered.message
        assert "approve=" in world.results()[0]
        assert not (world.folder / "a.py").exists()


def _raises(_: Approval) -> Allow:
    raise ValueError("no idea")


def _leaves(_: Approval) -> Allow:
    sys.exit(3)


async def _raises_later(_: Approval) -> Allow:
    raise ValueError("no idea")


async def _is_cancelled(_: Approval) -> Allow:
    job = asyncio.create_task(asyncio.Event().wait())
    job.cancel()
    await job
    return Allow()


class _Unspeakable(Exception):
    def __str__(self) -> str:
        raise ValueError


def _raises_the_unspeakable(_: Approval) -> Allow:
    raise _Unspeakable


@pytest.mark.parametrize(
    ("approve", "says"),
    [
        (_raises, "approve failed (ValueError: no idea), so write_file was denied."),
        (_raises_later, "approve failed (ValueError: no idea), so write_file was denied."),
        (_leaves, "approve failed (RuntimeError: it raised SystemExit), so write_file was denied."),
        (lambda _: True, "approve returned True, so write_file was denied."),
        (lambda _: None, "approve returned None, so write_file was denied."),
        (_is_cancelled, "approve failed (RuntimeError: it raised CancelledError), so write_file was denied."),
        (_raises_the_unspeakable, "approve failed (_Unspeakable), so write_file was denied."),
        (
            lambda _: Allow(scope="always"),  # type: ignore[arg-type]
            "approve returned Allow(scope='always'), so write_file was denied.",
        ),
    ],
    ids=["raises", "raises later", "exits", "a truth", "nothing", "cancelled", "no words", "no such scope"],
)
async def test_a_callback_that_fails_denies(worlds: Worlds, approve: Any, says: str) -> None:
    async with worlds(*asked(WRITE)) as world, world.open(approve=approve) as session:
        found = await all_of(session.ask("go"))
        assert [notice.text for notice in of(events.Notice, found)] == [says]
        assert "so this one wasn't allowed" in world.results()[0]
        assert not (world.folder / "a.py").exists()


async def test_a_callback_that_hangs_holds_neither_the_stop_nor_the_end(worlds: Worlds) -> None:
    called, release = threading.Event(), threading.Event()

    def approve(_: Approval) -> Allow:
        called.set()
        release.wait(LIMIT)
        return Allow()

    try:
        async with worlds(*asked(WRITE), OK) as world, world.open(approve=approve) as session:
            turn = session.ask("go")
            reading = asyncio.create_task(turn.end())
            await until(called.is_set)
            session.stop()
            end = await reading
            assert (end.reason, (world.folder / "a.py").exists()) == ("interrupted", False)
            assert isinstance(await session.ask("again").end(), events.TurnDone)
    finally:
        release.set()


async def test_a_callback_in_a_thread_can_stop_the_turn(worlds: Worlds) -> None:
    opened: list[Any] = []

    def approve(_: Approval) -> Deny:
        opened[0].stop()
        return Deny()

    async with worlds(*asked(WRITE), OK) as world, world.open(approve=approve) as session:
        opened.append(session)
        end = await session.ask("go").end()
        assert end.reason == "interrupted"
        assert isinstance(await session.ask("again").end(), events.TurnDone)


async def test_wrong_values_are_refused_and_change_nothing(worlds: Worlds) -> None:
    async with worlds(OK) as world:
        async with world.open() as session:
            for text in (b"bytes", None, 5):
                with pytest.raises(ConfigError, match="ask: the message must be a string, not"):
                    session.ask(text)
            with pytest.raises(ConfigError, match="set_mode: the mode must be one of ask, auto-edit, plan"):
                session.set_mode("Plan")
            assert session.mode == "ask"
            assert isinstance(await session.ask("go").end(), events.TurnDone)
        for folder in ("a\0b", "\ud800", f"/{'x' * 5_000}"):
            with pytest.raises(ConfigError, match="isn't a folder"):
                async with world.open(folder=folder):
                    pass


async def test_a_session_is_asked_in_its_own_event_loop(worlds: Worlds) -> None:
    async with worlds(OK) as world, world.open() as session:
        with pytest.raises(SessionRefused, match="belongs to the event loop that opened it"):
            await asyncio.to_thread(lambda: asyncio.run(session.ask("go").end()))
        assert isinstance(await session.ask("go").end(), events.TurnDone)


async def test_a_session_is_closed_however_often_its_task_is_cancelled(worlds: Worlds) -> None:
    ids: list[str] = []

    async def work(world: Any) -> None:
        async with world.open() as session:
            ids.append(session.id)
            await session.ask("go").end()

    async with worlds(STALLED) as world:
        working = asyncio.create_task(work(world))
        await until(lambda: world.server.requests)
        while not working.done():
            working.cancel()
            await asyncio.sleep(0)
        assert working.cancelled()
        async with world.open(resume=ids[0]) as session:  # nothing holds it any more
            assert [message.text for message in session.conversation] == ["go"]


async def test_a_late_yes_changes_nothing(worlds: Worlds) -> None:
    called, release, returned = threading.Event(), threading.Event(), threading.Event()

    def approve(_: Approval) -> Allow:
        called.set()
        release.wait(LIMIT)
        returned.set()
        return Allow(scope="session")

    async with worlds(*asked(WRITE), OK) as world, world.open(approve=approve) as session:
        reading = asyncio.create_task(session.ask("go").end())
        await until(called.is_set)
        session.stop()
        await reading
        release.set()
        await until(returned.is_set)
        await session.ask("again").end()
        assert not (world.folder / "a.py").exists()


# Questions

ASK = Call(
    "ask_user", {"question": "Which database?", "choices": [{"label": "SQLite"}, {"label": "Postgres"}]}
)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (UserAnswer(1), "The user chose: Postgres"),
        (UserAnswer(2, "DuckDB"), "The user answers: DuckDB"),
        (None, "The user does not want to answer."),
        (UserAnswer(7), "The user does not want to answer."),
        ("Postgres", "The user does not want to answer."),
        (UserAnswer("1"), "The user does not want to answer."),  # type: ignore[arg-type]
        (UserAnswer(1, None), "The user does not want to answer."),  # type: ignore[arg-type]
        (UserAnswer(True), "The user does not want to answer."),
    ],
    ids=["choice", "words", "declined", "no such answer", "no answer", "a text", "no words", "a truth"],
)
async def test_the_other_callback_answers_questions(worlds: Worlds, given: Any, told: str) -> None:
    def answer(question: UserQuestion) -> Any:
        assert question.question == "Which database?"
        assert [choice.label for choice in question.choices] == ["SQLite", "Postgres", "something else"]
        return given

    async with worlds(*asked(ASK)) as world, world.open(answer=answer) as session:
        notices = of(events.Notice, await all_of(session.ask("go")))
        assert told in world.results()[0]
        declined = given is not None and told == "The user does not want to answer."
        assert bool(notices) == declined


async def test_without_it_the_model_makes_the_safest_assumption(worlds: Worlds) -> None:
    async with worlds(*asked(ASK)) as world, world.open() as session:
        await session.ask("go").end()
        assert "Make the safest assumption" in world.results()[0]


# Opening and saving


async def test_a_session_is_resumed_with_its_conversation(worlds: Worlds) -> None:
    async with worlds(*asked(WRITE), OK) as world:
        async with world.open(mode="auto-edit") as first:
            await first.ask("go").end()
        async with world.open(resume=first.id) as second:
            assert (second.id, second.memory) == (first.id, first.memory)
            await second.ask("more").end()
        assert [each.text for each in seen(world.server.requests[-1])][1] == "go"


async def test_a_session_that_is_open_elsewhere_is_refused(worlds: Worlds) -> None:
    async with worlds(OK) as world, world.open() as first:
        await first.ask("go").end()
        with pytest.raises(keen_tui.SessionInUse):
            async with world.open(resume=first.id):
                pass


async def test_a_session_that_is_not_saved_leaves_nothing(worlds: Worlds) -> None:
    async with worlds(*asked(WRITE)) as world:
        async with world.open(mode="auto-edit", save=False) as session:
            await session.ask("go").end()
        assert not list(world.home.glob("sessions/**/*.jsonl"))
        with pytest.raises(ConfigError, match="save=True"):
            async with world.open(resume=session.id, save=False):
                pass


async def test_arguments_beat_the_settings_and_the_environment(
    worlds: Worlds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "of-the-environment")
    async with worlds(*asked(WRITE)) as world:
        monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:9/v1")
        (world.home / "settings.toml").write_text(
            'mode = "auto"\nmodel = "other"\n[memory]\npolicy = "in-band"\n'
        )
        async with world.open(api_key="given-by-the-program", mode="plan", memory="summary") as session:
            await session.ask("go").end()
            assert (session.mode, session.model) == ("plan", "scripted")
        request = world.server.requests[0]
        assert request.headers["authorization"] == "Bearer given-by-the-program"
        assert "keen_memory" not in seen(request)[0].text
        async with world.open() as session:
            assert session.mode == "auto"


async def test_the_key_is_in_no_result(worlds: Worlds) -> None:
    def leak() -> str:
        """Say the key."""
        return "key: given-by-the-program"

    async with worlds(*asked(Call("leak"))) as world:
        async with world.open(api_key="given-by-the-program", mode="auto", tools=[leak]) as session:
            await session.ask("go").end()
        assert world.results() == [f"key: {MASK}"]


WRONG = {
    "no folder": ({"folder": "/nowhere/at/all"}, ConfigError, "/nowhere/at/all isn't a folder"),
    "no model": ({"model": ""}, ModelMissing, 'Pass model="NAME"'),
    "no such mode": ({"mode": "yolo"}, ConfigError, "open_session: mode must be one of ask, auto-edit"),
    "no such setting": ({"settings": {"colour": 1}}, ConfigError, "open_session: unknown setting 'colour'"),
    "no such provider": ({"provider": "acme"}, ConfigError, "Unknown provider 'acme'"),
    "no such session": ({"resume": "2"}, StorageFailed, "2"),
    "not a key": ({"api_key": "a b"}, ConfigError, "in api_key"),
}


@pytest.mark.parametrize(("given", "kind", "says"), WRONG.values(), ids=WRONG)
async def test_what_is_wrong_is_told_in_a_sentence(
    worlds: Worlds, given: dict[str, Any], kind: type[Exception], says: str
) -> None:
    async with worlds() as world:
        with pytest.raises(kind, match=says.replace("(", r"\(")) as told:
            async with world.open(**given):
                pass
        assert isinstance(told.value, keen_tui.KeenError)


async def test_no_key_is_told_with_the_argument(worlds: Worlds) -> None:
    async with worlds() as world:
        with pytest.raises(ModelMissing, match=r"ANTHROPIC_API_KEY.*api_key"):
            async with world.open(provider="anthropic", model="claude-opus-5", base_url=""):
                pass


async def test_auto_mode_without_a_sandbox_needs_a_word(
    worlds: Worlds, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def missing(_: object) -> str:
        return "nothing here can confine a command"

    monkeypatch.setattr("keen_tui.agent.session.Session.missing_sandbox", missing)
    async with worlds() as world:
        with pytest.raises(ConfigError, match="approve="):
            async with world.open(mode="auto"):
                pass
        async with world.open(mode="auto", approve=lambda _: Deny()):
            pass


# The end of the program

KILLED = """
import asyncio, os, sys
from keen_tui import events, open_session

async def main():
    async with open_session(
        sys.argv[1], base_url=sys.argv[2], model="scripted", mode="auto-edit",
        settings={"sandbox": False, "pending": {"durable": True}},
    ) as session:
        print(session.id, flush=True)
        async for event in session.ask("go"):
            if isinstance(event, events.TextDelta):
                os.kill(os.getpid(), 9)

asyncio.run(main())
"""


async def test_after_a_kill_another_program_goes_on_without_repeating_a_call(worlds: Worlds) -> None:
    async with worlds(Reply([WRITE]), STALLED, OK) as world:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", KILLED, str(world.folder), world.server.base_url,
            stdout=subprocess.PIPE, env=os.environ | {"KEEN_HOME": str(world.home)},
        )  # fmt: skip
        async with asyncio.timeout(LIMIT):
            out, _ = await process.communicate()
        assert process.returncode == -signal.SIGKILL
        async with world.open(
            resume=out.decode().strip(), settings={"pending": {"durable": True}}
        ) as session:
            assert session.pending
            assert session.pending.calls == 1
            assert isinstance(await session.retry().end(), events.TurnDone)
            assert session.memory[1].files_changed == ("a.py",)
        assert len(world.results()) == 1


async def test_the_public_names_are_those_of_the_package() -> None:
    assert keen_tui.__all__ == keen_tui.api.__all__ == sorted(keen_tui.__all__)
    assert all(getattr(keen_tui, name) is getattr(keen_tui.api, name) for name in keen_tui.__all__)
    assert set(keen_tui.__all__) <= set(dir(keen_tui))
    with pytest.raises(AttributeError, match="no attribute 'sesion'"):
        _ = keen_tui.sesion  # type: ignore[attr-defined]


def test_importing_the_package_imports_nothing_else() -> None:
    probe = (
        "import sys; before = set(sys.modules); import keen_tui; print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["keen_tui"]
