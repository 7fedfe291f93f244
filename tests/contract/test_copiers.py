"""What carries a session from one place to another keeps its TurnMemory (turn.md rule 14), and the next
request is the same, byte for byte, as that of the session that lived on."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import convert
from msgspec.structs import astuple, replace

from keen_tui.agent.services.session_manager import SessionManager
from keen_tui.agent.services.undo import TurnBackup
from keen_tui.demo.script import Answer, Break, Call, HttpAnswer, Reply, Say, Think
from keen_tui.domain.choices import PolicyName
from keen_tui.domain.events import (
    Compacted,
    Event,
    SessionRestored,
    ShellFinished,
    TurnIncomplete,
    TurnUndone,
)
from keen_tui.domain.facts.command_failed import CommandFailed
from keen_tui.domain.messages import CommandRun, Image, Message, TurnMemory, merged_memory
from keen_tui.memory.conversation import Past
from keen_tui.storage.lookup.sessions import SessionStore
from tests.support.agent import AtWork, Bench
from tests.support.facts import EVERYTHING
from tests.support.images import png
from tests.support.waiting import until_idle

CUT = Reply([Say("This sentence is cut in the mid")], broken=Break("reset"))
OK = Reply([Say("Ok.")])
BLOCK = "<keen_memory>\n- what counts\n</keen_memory>"
ODD = "x, y\n- Files changed: z"
TEXT = 'ä ✗ "quoted" \\ \u2028 \x85 end\n'


def bash(command: str) -> Call:
    return Call("bash", {"command": command})


def write(path: str) -> Call:
    return Call("write_file", {"path": path, "content": TEXT})


LIFE: list[Answer] = [
    Reply([Think("Hm."), Say("I write."), write(ODD), write("b.py"), bash(f"echo '{TEXT}'; exit 2")]),
    Reply(
        [Call("no/such tool ✗", {"ä": [1.0, None, 10**20]}), Call("read_file", '{"path": '), bash("exit 2")]
    ),
    Reply([Call("read_file", {"path": ODD}, id=""), Call("read_file", {"path": "b.py"}, id="")]),
    Reply([Say(f"Done: {TEXT}\n\n{BLOCK}")]),
    Reply([Say("Half."), write("lost.py")]),
    CUT,
    HttpAnswer(401, {"error": {"message": "wrong key"}}),
    Reply([Say("Third."), write("c.py"), bash("exit 3")]),
    CUT,
    Reply([Say(f"Fourth. {BLOCK}"), bash("exit 4")]),
    CUT,
    Reply([Say("Both.")]),
]
"""The answers of the model in `live`."""

MEMORIES = {
    1: merged_memory(
        [
            TurnMemory(
                files_changed=(ODD, "b.py"),
                failed_bash=(CommandFailed(command="exit 2", exit_code=2),),
                notes=("mind the, comma",),
            ),
            EVERYTHING,
        ]
    ),
    2: TurnMemory(files_changed=("lost.py",)),
    4: TurnMemory(
        files_changed=("c.py",),
        failed_bash=(
            CommandFailed(command="exit 3", exit_code=3),
            CommandFailed(command="exit 4", exit_code=4),
        ),
    ),
}
"""What is remembered then, by turn: of turn 1 facts of every kind, since it was edited by hand."""


async def live(bench: Bench) -> None:
    """A turn with memory edited by hand, one abandoned, a message taken back, two turns recovered as one,
    and the first one undone; the user's own commands before the first and around the one taken back."""
    session = bench.session
    await run(bench, "echo first")
    shot = png()
    (session.workspace / "shot.png").write_bytes(shot)
    await bench.ask("u1 @shot.png")
    assert session.conversation[0].images[0].content == shot
    session.edit_memory(1, MEMORIES[1])
    assert isinstance(await bench.ask("u2"), TurnIncomplete)
    session.discard()
    await run(bench, f"echo '{TEXT}'; exit 2")
    await bench.ask("taken back")
    session.discard()
    await run(bench, "echo last")
    assert isinstance(await bench.ask("u3"), TurnIncomplete)
    assert isinstance(await bench.ask("u4"), TurnIncomplete)
    await bench.retry()
    session.note_undone(1, (ODD, "b.py"))
    await bench.log.wait_for(TurnUndone)
    assert [event.turn for event in bench.log.ends] == [1, 2, 3, 3, 4, 4]


async def run(bench: Bench, command: str) -> None:
    """Run a command of the user's own to its end."""
    before = len(bench.log.of(ShellFinished))
    bench.session.run_own(command)
    await bench.log.wait_for(ShellFinished, before + 1)


async def goes_on_as(past: Sequence[Event], at_work: AtWork, folder: Path, policy: PolicyName) -> Any:
    """The conversation of a session that was opened with these events, and its next request."""
    async with at_work([OK], folder, policy=policy) as bench:
        bench.session.open("copy", "", past)
        await bench.log.wait_for(SessionRestored)
        opened = bench.session.past
        await bench.ask("next")
        bench.assert_valid_requests()
        return opened, bench.server.requests[-1].raw


async def test_every_copier_keeps_everything(tmp_path: Path, at_work: AtWork, policy: PolicyName) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    store = SessionStore(tmp_path / "data")
    summary = Reply([Say("A summary.")])
    async with at_work([*LIFE, summary, OK], folder, policy=policy) as bench:
        manager = SessionManager(bench.session, store, TurnBackup())
        await manager.begin()
        await live(bench)
        before = bench.session.past
        assert _memories(before) == MEMORIES
        exported = await manager.export("json", str(tmp_path / "out.json"))
        assert _exported(exported) == before.messages
        copies = await _copies(bench, store, manager.session_id)
        of_first_turn = _events(store, store.fork(store.path_of(manager.session_id), folder, 1))

        bench.session.compact("what matters")
        compacted = await bench.log.wait_for(Compacted)
        await until_idle(bench.session)
        assert compacted.turn_memory == _union(before)
        assert _carries_memory(bench, policy), "the summary is made of the messages as requests carry them"
        summarised = bench.session.past
        await manager.export("json", str(tmp_path / "later.json"))
        later = await _copies(bench, store, manager.session_id)
        await bench.ask("next")
        last = bench.server.requests[-1].raw
        await bench.session.close()
        await manager.close()

    bodies = {name: await goes_on_as(copy, at_work, folder, policy) for name, copy in copies.items()}
    assert all(opened == before for opened, _ in bodies.values())
    assert len({body for _, body in bodies.values()}) == 1
    for copy in later.values():
        assert await goes_on_as(copy, at_work, folder, policy) == (summarised, last)
    opened, _ = await goes_on_as(of_first_turn, at_work, folder, policy)
    assert opened == Past(before.messages[:2], {1: before.steps[1]})


async def test_a_session_that_was_opened_again_sends_what_it_would_have_sent(
    tmp_path: Path, at_work: AtWork, policy: PolicyName
) -> None:
    async with at_work([*LIFE, OK], tmp_path, policy=policy) as bench:
        await live(bench)
        events = list(bench.log.events)
        await bench.ask("next")
        lived_on = bench.server.requests[-1].raw
        bench.assert_valid_requests()
    _, opened = await goes_on_as(events, at_work, tmp_path, policy)
    assert opened == lived_on


async def test_the_same_life_sends_the_same_bytes(
    tmp_path: Path, at_work: AtWork, policy: PolicyName
) -> None:
    folder = tmp_path / "project"
    sent = []
    for _ in range(2):
        folder.mkdir()
        async with at_work([*LIFE, OK], folder, policy=policy) as bench:
            await live(bench)
            await bench.ask("next")
            sent.append([_without_minted_ids(request.raw) for request in bench.server.requests])
        shutil.rmtree(folder)
    assert sent[0] == sent[1], "or no prompt cache would ever be met"


def _without_minted_ids(raw: bytes) -> bytes:
    """The request without the ids that calls got which the model sent without any, in the turn itself."""
    return re.sub(rb'(?<=id":")[0-9a-f]{9}(?=")', b"minted", raw)


async def _copies(bench: Bench, store: SessionStore, session_id: str) -> dict[str, Sequence[Event]]:
    """The events of the session as each copier has them, once the journal has written them."""
    path = store.path_of(session_id)
    return {
        "as they were published": list(bench.log.events),
        "from the journal": _events(store, path),
        "from a fork": _events(store, store.fork(path, bench.session.workspace)),
    }


def _events(store: SessionStore, path: Path) -> list[Event]:
    return [record.event for record in store.read(path).records]


def _memories(past: Past) -> dict[int, TurnMemory]:
    """What is remembered, by turn; the undoing of turn 1 has its own test."""
    replies = [message for message in past.messages if message.memory and "undone" not in message.text]
    return {message.turn: message.memory for message in replies if message.memory}


def _union(past: Past) -> TurnMemory:
    files = dict.fromkeys((*MEMORIES[1].files_changed, "lost.py", "c.py"))
    failed = MEMORIES[1].failed_bash + MEMORIES[4].failed_bash
    return replace(MEMORIES[1], files_changed=tuple(files), failed_bash=failed)


def _carries_memory(bench: Bench, policy: PolicyName) -> bool:
    """Whether the newest request holds the blocks that this policy renders."""
    sent = "\n".join(bench.lines())
    for kind, facts in MEMORIES[1].by_kind:
        if kind.IS_CARRIED:
            assert all((f"- {line}" in sent) == (policy == "summary") for line in kind.lines(facts))
        else:
            assert not any(value in sent for fact in facts for value in astuple(fact))
    assert "(turn abandoned)\n\nTool memory:\n- Files changed: lost.py" in sent
    assert "(changes of turn 1 undone)\n\nTool memory:" in sent
    rendered = '- Note: "mind the, comma"' in sent and "- Failed bash: exit 4 (exit 4)" in sent
    return rendered == (policy == "summary")


def _exported(path: Path) -> tuple[Message, ...]:
    """The messages of an export, as the session had them."""
    return tuple(_message(record) for record in json.loads(path.read_text())["messages"])


def _message(record: dict[str, Any]) -> Message:
    ran = tuple(CommandRun(**each) for each in record["ran"])
    images = convert(record["images"], tuple[Image, ...])
    message = Message(**record | {"ran": ran, "images": images})
    if record["memory"] is None:
        return message
    return replace(message, memory=convert(record["memory"], TurnMemory))
