"""Pending state that outlives the program, for users who want that (rule 9 of docs/turn.md), on every API."""

from __future__ import annotations

import json
import re
import shutil
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Answer, Call, NoAnswer, Reply, Say, Think
from keen_tui.domain.choices import Api
from keen_tui.domain.errors import PROGRAM_ENDED, SessionRefused
from keen_tui.domain.events import (
    PendingKept,
    ToolFinished,
    TurnAbandoned,
    TurnDone,
    TurnError,
    TurnIncomplete,
    TurnStarted,
)
from keen_tui.memory.rendering import ABANDONED
from keen_tui.memory.unfinished import ENDED_MIDWAY
from keen_tui.providers.registry import APIS
from keen_tui.storage.pending_file import read_pending
from tests.support.compacting import CUT, SUMMARY, memory, requested, work
from tests.support.faults import DONE, WORK, refused, runs
from tests.support.saving import Place, SavedBench, gone, pending_files, place, results_in
from tests.support.waiting import until

each_api = pytest.mark.parametrize("api", APIS)
OTHER_API: dict[Api, Api] = {
    "openai-chat": "anthropic",
    "openai-responses": "openai-chat",
    "anthropic": "openai-responses",
}


async def kept(file: Path, bench: SavedBench) -> None:
    """Wait until the file holds the pending state of now."""
    await until(lambda: read_pending(file) == (bench.session.identity, bench.session.pending))


def peek(file: Path) -> Call:
    """A call that copies the file as it is while the call runs."""
    return Call("bash", {"command": f"cp '{file}' peeked-$(ls | grep -c peeked) && echo peeked"})


# What lies on the disk, and when


@each_api
async def test_before_each_call_the_file_holds_what_is_true_if_the_program_dies_in_it(
    tmp_path: Path, api: Api
) -> None:
    answers: list[Answer] = [CUT]
    async with place(tmp_path, api, lambda _: answers.pop(0)) as here, here.program() as bench:
        file = bench.pending_file
        answers.insert(0, Reply([Think("Hm."), Say("I look."), peek(file), peek(file)]))
        assert isinstance(await bench.ask("u1"), TurnIncomplete)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        peeked = [read_pending(here.workspace / name) for name in ("peeked-0", "peeked-1")]
        states = [each[1] for each in peeked if each]
        known = [results_in(state, bench.provider) for state in states]
        assert [state.calls for state in states] == [1, 2]
        assert known[0][0] == ENDED_MIDWAY.text and known[0][1].startswith("not run")
        assert "peeked" in known[1][0] and known[1][1] == ENDED_MIDWAY.text
        await kept(file, bench)


@each_api
async def test_after_each_step_the_file_holds_its_results(tmp_path: Path, api: Api) -> None:
    async with place(tmp_path, api, [WORK, NoAnswer("stall")]) as here, here.program() as bench:
        bench.session.submit("u1")
        await requested(bench, 2)
        await until(lambda: ENDED_MIDWAY.text not in bench.pending_file.read_text())
        known = read_pending(bench.pending_file)
        assert known and known[1].calls == 1 and known[1].texts == ("I count.",)
        bench.session.stop()
        await bench.log.wait_for_end()


async def retried(bench: SavedBench) -> None:
    assert isinstance(await bench.retry(), TurnDone)


async def discarded(bench: SavedBench) -> None:
    bench.session.discard()


async def left(bench: SavedBench) -> None:
    await bench.history.new()


async def switched(bench: SavedBench) -> None:
    bench.switch(OTHER_API[bench.session.identity.api], abandon=True)


@each_api
@pytest.mark.parametrize("deed", [retried, discarded, left, switched])
async def test_when_nothing_is_pending_any_more_the_file_is_gone(
    tmp_path: Path, api: Api, deed: Callable[[SavedBench], Awaitable[None]]
) -> None:
    async with place(tmp_path, api, [WORK, CUT, DONE]) as here, here.program() as bench:
        assert isinstance(await bench.ask("u1"), TurnIncomplete)
        file = bench.pending_file
        await kept(file, bench)
        await deed(bench)
        await gone(file)
        assert pending_files(here) == []


@each_api
async def test_a_turn_that_ends_as_an_error_leaves_no_file(tmp_path: Path, api: Api) -> None:
    async with place(tmp_path, api, [WORK, DONE]) as here:
        async with here.program() as bench:
            bench.session.set_mode("ask")
            bench.session.submit("u1")
            await until(bench.pending_file.exists)
            bench.session.stop()
            assert isinstance(await bench.log.wait_for_end(), TurnError)
        assert pending_files(here) == []
        assert runs(here.workspace) == ""


@each_api
async def test_with_the_setting_off_there_never_is_a_file(tmp_path: Path, api: Api) -> None:
    answers: list[Answer] = [CUT]
    async with place(tmp_path, api, lambda _: answers.pop(0)) as here:
        async with here.program(durable=False) as bench:
            answers.insert(0, Reply([peek(bench.pending_file), WORK.parts[-1]]))
            assert isinstance(await bench.ask("u1"), TurnIncomplete)
            name = bench.history.session_id
            (failed, _) = bench.log.of(ToolFinished)
            assert failed.result.exit_code == 1, "there was nothing to copy"
        assert pending_files(here) == []
        async with here.program(name, durable=False) as bench:
            assert bench.session.pending is None
            assert bench.session.conversation[-1].text == "(turn abandoned)"


@each_api
async def test_a_file_from_when_the_setting_was_on_is_taken_away_unused(tmp_path: Path, api: Api) -> None:
    async with place(tmp_path, api, [work("a.py"), CUT, DONE]) as here:
        name, _ = await incomplete_and_left(here)
        await assert_abandoned(here, name, durable=False, memory_only=True)
        assert pending_files(here) == []


@each_api
async def test_a_program_that_is_ended_from_outside_keeps_the_running_turn(tmp_path: Path, api: Api) -> None:
    async with place(tmp_path, api, [WORK, NoAnswer("stall"), DONE]) as here:
        async with here.program(durable=False) as bench:
            bench.session.submit("u1")
            await requested(bench, 2)
            assert pending_files(here) == []
            bench.history.keep_unasked()
            name = bench.history.session_id
        assert len(pending_files(here)) == 1
        async with here.program(name, durable=False) as bench:
            assert bench.session.pending and bench.session.pending.calls == 1
            (end,) = bench.log.of(TurnIncomplete)
            assert end.detail == PROGRAM_ENDED
            assert bench.history.keeps_pending, "the next end of the program loses it as little"
            assert isinstance(await bench.retry(), TurnDone)
            assert runs(here.workspace) == "ran\n", "no call ran twice"
            await gone(bench.pending_file)


async def test_whoever_wants_turns_in_memory_only_gets_no_file_at_such_an_end(tmp_path: Path) -> None:
    async with place(tmp_path, "openai-chat", [WORK, NoAnswer("stall")]) as here:
        async with here.program(durable=False, memory_only=True) as bench:
            bench.session.submit("u1")
            await requested(bench, 2)
            bench.history.keep_unasked()
        assert pending_files(here) == []


async def test_without_a_turn_such_an_end_changes_nothing(tmp_path: Path) -> None:
    async with place(tmp_path, "openai-chat", [DONE]) as here, here.program(durable=False) as bench:
        assert isinstance(await bench.ask("u1"), TurnDone)
        bench.history.keep_unasked()
        assert not bench.history.keeps_pending


async def test_work_that_goes_over_to_another_model_is_kept_as_its_own(tmp_path: Path) -> None:
    async with place(tmp_path, "openai-chat", [WORK, CUT, DONE]) as here:
        async with here.program() as bench:
            await bench.ask("u1")
            bench.switch(model="other")
            await kept(bench.pending_file, bench)
            name = bench.history.session_id
        async with here.program(name, model="other") as bench:
            assert isinstance(await bench.retry(), TurnDone)
            assert runs(here.workspace) == "ran\n"


# Going on in another program


@each_api
async def test_what_was_incomplete_goes_on_in_the_next_program(tmp_path: Path, api: Api) -> None:
    script = [work("a.py"), CUT, WORK, CUT, DONE, DONE]
    async with place(tmp_path, api, script) as here:
        async with here.program() as bench:
            await bench.ask("u1")
            await bench.ask("u2")
            name, before = bench.history.session_id, bench.session.pending
        for _ in range(2):  # that it was opened changes nothing
            async with here.program(name) as bench:
                assert bench.session.pending == before
                assert len(bench.log.ends) == 2, "ended once is enough"
                assert bench.log.of(TurnAbandoned) == []
        async with here.program(name) as bench:
            done = await bench.retry()
            assert isinstance(done, TurnDone)
            assert bench.log.of(TurnStarted)[-1].recovering == 3
            roles = [message.text if message.role == "user" else message.role for message in bench.messages()]
            assert roles == ["u1", "assistant", "tool", "tool", "u2", "assistant", "tool"]
            assert (done.turn, done.turn_memory.files_changed, len(done.turn_memory.failed_bash)) == (
                2, ("a.py",), 1,
            )  # fmt: skip
            assert done.text == "I work.\n\nI count.\n\nAll done."
            assert runs(here.workspace) == "ran\n"
            await bench.ask("u3")
            bench.assert_valid_requests()
        assert pending_files(here) == []


@each_api
async def test_what_stood_before_it_can_be_summarised_in_the_next_program(tmp_path: Path, api: Api) -> None:
    async with place(tmp_path, api, [work("a.py"), DONE, WORK, CUT, SUMMARY, DONE]) as here:
        async with here.program() as bench:
            await bench.ask("u0")
            await bench.ask("u1")
            name = bench.history.session_id
        async with here.program(name) as bench:
            await bench.compact()
        async with here.program(name) as bench:
            assert isinstance(await bench.retry(), TurnDone)
            roles = [message.role for message in bench.messages()]
            assert roles == ["user", "assistant", "user", "assistant", "tool"]
            assert runs(here.workspace) == "ran\n"
            bench.assert_valid_requests()


async def incomplete_and_left(here: Place) -> tuple[str, Path]:
    """A program that leaves an incomplete turn behind: the session's id and the file of its work."""
    async with here.program() as bench:
        assert isinstance(await bench.ask("u1"), TurnIncomplete)
        return bench.history.session_id, bench.pending_file


async def assert_abandoned(
    here: Place, name: str, *, durable: bool = True, memory_only: bool = False
) -> None:
    """Opened, the session says that the turn is abandoned, and nothing is pending."""
    async with here.program(name, durable=durable, memory_only=memory_only) as bench:
        assert bench.session.pending is None
        assert bench.session.conversation[-1].text == "(turn abandoned)"
        assert bench.session.conversation[-1].memory == memory("a.py")
        assert len(bench.log.of(TurnAbandoned)) == 1
        await gone(bench.pending_file)
        assert isinstance(await bench.ask("next"), TurnDone)
        assert [message.role for message in bench.messages()] == ["user", "assistant", "user"]
        bench.assert_valid_requests()


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def halved(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:200])


def of_another_schema(file: Path) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | {"schema": 99}))


def no_text(file: Path) -> None:
    file.write_bytes(b"\xff\x00" * 100)


def linked(file: Path) -> None:
    elsewhere = file.with_name("elsewhere")
    file.rename(elsewhere)
    file.symlink_to(elsewhere)


def removed(file: Path) -> None:
    file.unlink()


@each_api
@pytest.mark.parametrize("damage", [emptied, halved, of_another_schema, no_text, linked, removed])
async def test_a_file_that_cannot_be_used_means_abandoned_work(
    tmp_path: Path, api: Api, damage: Callable[[Path], None]
) -> None:
    async with place(tmp_path, api, [work("a.py"), CUT, DONE]) as here:
        name, file = await incomplete_and_left(here)
        damage(file)
        await assert_abandoned(here, name)


@each_api
async def test_a_server_on_this_machine_goes_on_at_another_port(tmp_path: Path, api: Api) -> None:
    async with place(tmp_path, api, [work("a.py"), CUT]) as here:
        name, _ = await incomplete_and_left(here)
        async with ModelServer([DONE]) as again, Place(here.folder, again, api).program(name) as bench:
            assert isinstance(await bench.retry(), TurnDone)
            assert len(bench.results()) == 2


@each_api
async def test_work_of_another_model_or_server_is_not_lost_unasked(tmp_path: Path, api: Api) -> None:
    """Turn.md rule 8: the session opens with its own model, or as a copy without the turn."""
    async with place(tmp_path, api, [work("a.py"), CUT, DONE, DONE]) as here:
        name, file = await incomplete_and_left(here)
        kept = file.read_bytes()
        elsewhere = "http://models.example.org/v1"
        with pytest.raises(SessionRefused, match=rf"scripted at {here.server.base_url}"):
            async with here.program(name, base_url=elsewhere):
                pass
        assert file.read_bytes() == kept
        async with here.program(base_url=elsewhere) as bench:
            await bench.history.fork(name)
            assert bench.session.pending is None
            assert bench.session.conversation[-1].text == ABANDONED
        assert file.read_bytes() == kept
        if api == "openai-chat":
            async with here.program(name, model="other") as bench:
                assert isinstance(await bench.retry(), TurnDone)
                assert [message.role for message in bench.messages()] == ["user", "assistant", "tool", "tool"]
                assert not any(message.thought for message in bench.messages())
        else:
            with pytest.raises(SessionRefused, match="open it with that model"):
                async with here.program(name, model="other"):
                    pass
            async with here.program(name) as bench:
                assert isinstance(await bench.retry(), TurnDone)


@each_api
async def test_a_file_that_knows_fewer_calls_than_the_session_is_not_used(tmp_path: Path, api: Api) -> None:
    answers: list[Answer] = [CUT, DONE]
    async with place(tmp_path, api, lambda _: answers.pop(0)) as here:
        async with here.program() as bench:
            answers.insert(0, Reply([peek(bench.pending_file), *work("a.py").parts[1:]]))
            await bench.ask("u1")
            name, file = bench.history.session_id, bench.pending_file
        shutil.copy(here.workspace / "peeked-0", file)
        await assert_abandoned(here, name)


@each_api
async def test_a_file_that_outlived_its_turn_is_not_used(tmp_path: Path, api: Api) -> None:
    """A program may die between the end of a turn and the removal of the file."""
    script: list[Answer] = [WORK, CUT, DONE, NoAnswer("stall"), DONE, DONE]
    async with place(tmp_path, api, script) as here:
        name, file = await incomplete_and_left(here)
        stale = file.read_bytes()
        async with here.program(name) as bench:
            await bench.retry()
        file.write_bytes(stale)
        died = tmp_path / "died"
        async with here.program(name) as bench:
            assert bench.session.pending is None
            assert len(bench.session.conversation) == 2
            await gone(file)
            bench.session.submit("u2")
            await requested(bench, 4)
            await until(lambda: '"text":"u2"' in bench.file.read_text())
            shutil.copytree(here.home, died)
        (died_file,) = [died / file.relative_to(here.home)]
        died_file.write_bytes(stale)
        async with here.program(name, home=died) as bench:
            assert bench.session.pending is None, "it is not of the turn that ran"
            end = bench.log.ends[-1]
            assert isinstance(end, TurnError) and end.turn == 2
            assert isinstance(await bench.retry(), TurnDone)
            assert [message.role for message in bench.messages()] == ["user", "assistant", "user"]
            assert runs(here.workspace) == "ran\n"
            bench.assert_valid_requests()


# The session file


def lines_apart_from_times_and_names(file: Path, folder: Path) -> list[str]:
    text = file.read_text().replace(str(folder), "").replace(file.stem, "")
    text = re.sub(r'"(at|began|seconds)":[0-9.e-]+', r'"\1":0', text)
    text = re.sub(r"127\.0\.0\.1:\d+", "the server", text)
    return re.sub(r'"(id)":"[^"]*"', r'"\1":""', text).splitlines()


@each_api
async def test_the_session_file_is_the_same_with_the_setting_on_and_off_and_holds_no_traces(
    tmp_path: Path, api: Api
) -> None:
    script: list[Answer] = [
        Reply([Think("a secret thought"), *WORK.parts]),
        CUT,
        CUT,
        refused(401, "key test-key"),
        DONE,
    ]
    files: list[list[str]] = []
    for durable in (True, False):
        folder = tmp_path / str(durable)
        folder.mkdir()
        async with place(folder, api, script) as here:
            async with here.program(durable=durable) as bench:
                await bench.ask("u1")
                await bench.retry()
                await bench.ask("u2")
                await bench.retry()
                file = bench.file
            text = file.read_text()
            files.append(lines_apart_from_times_and_names(file, folder))
            system = bench.server.requests[0].body.get("system") or bench.server.requests[0].raw.decode()
            assert "You are Keen" in str(system)
            for never in ("You are Keen", "test-key", "tool_call_id", "tool_use_id", "call_id", "signature"):
                assert never not in text, never
            assert "encrypted_content" not in text and "traces" not in text
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with_it, without = files
    assert with_it == without


# Decided while the program runs


@each_api
async def test_a_yes_after_the_turn_broke_off_keeps_the_work_that_is_pending_then(
    tmp_path: Path, api: Api
) -> None:
    async with place(tmp_path, api, [WORK, CUT, DONE]) as here:
        async with here.program(durable=False) as bench:
            assert isinstance(await bench.ask("u1"), TurnIncomplete)
            assert pending_files(here) == []
            bench.history.keep_pending(True)
            await kept(bench.pending_file, bench)
            name = bench.history.session_id
            await bench.log.caught_up()
            assert [event.durable for event in bench.log.of(PendingKept)] == [True]
        async with here.program(name) as bench:
            assert bench.session.pending and bench.session.pending.calls == 1
            assert isinstance(await bench.retry(), TurnDone)
            assert runs(here.workspace) == "ran\n", "no call ran twice"
            await gone(bench.pending_file)


@each_api
async def test_a_yes_while_a_turn_runs_holds_for_its_next_step(tmp_path: Path, api: Api) -> None:
    async with place(tmp_path, api, [WORK, NoAnswer("stall")]) as here, here.program(durable=False) as bench:
        bench.session.submit("u1")
        await requested(bench, 2)
        bench.history.keep_pending(True)
        bench.session.stop()
        assert isinstance(await bench.log.wait_for_end(), TurnIncomplete)
        await kept(bench.pending_file, bench)


@each_api
async def test_a_no_removes_the_file_and_keeps_the_work_in_memory(tmp_path: Path, api: Api) -> None:
    async with place(tmp_path, api, [WORK, CUT, DONE]) as here, here.program() as bench:
        assert isinstance(await bench.ask("u1"), TurnIncomplete)
        await kept(bench.pending_file, bench)
        bench.history.keep_pending(False)
        await gone(bench.pending_file)
        assert isinstance(await bench.retry(), TurnDone)
        assert pending_files(here) == []
