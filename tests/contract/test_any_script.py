"""Whatever a model says, a server breaks and a user does: what must hold after it, on every API.

`KEEN_LONG_TESTS=1` tries thousands of random scripts; without it, a fixed few hundred.
"""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from keen_tui.demo.script import (
    Answer,
    Break,
    Call,
    Fail,
    HttpAnswer,
    NoAnswer,
    RecordedRequest,
    Reply,
    Say,
    Think,
)
from keen_tui.domain.choices import Api, PolicyName
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.events import (
    Compacted,
    CompactionFailed,
    CompactionStarted,
    EndEvent,
    ImagesAttached,
    MessageTakenBack,
    ShellFinished,
    Steered,
    ToolFinished,
    TurnAbandoned,
    TurnDone,
    TurnError,
    TurnIncomplete,
    TurnStarted,
)
from keen_tui.domain.messages import Fact, merged_memory, turn_memory
from keen_tui.domain.models import ModelInfo
from keen_tui.domain.reports import POLICIES
from keen_tui.memory.conversation import COMPACTED
from keen_tui.providers.registry import APIS
from tests.support.agent import QUICK_RETRIES, Bench, at_work, provider_for
from tests.support.compacting import folded
from tests.support.images import png
from tests.support.waiting import LIMIT, one_round, until, until_idle

LONG = "KEEN_LONG_TESTS" in os.environ
EXAMPLES = 3_000 if LONG else 150
DONE = Reply([Say("Done.")])


@dataclass(frozen=True)
class Turn:
    """Send a message, `queued` more behind it, or retry; hand one in after `steer_after` events, and stop
    after `stop_after`, if at all."""

    what: str
    queued: int = 0
    stop_after: int | None = None
    steer_after: int | None = None


@dataclass(frozen=True)
class Own:
    """Run a command of the user's own."""


@dataclass(frozen=True)
class Discard:
    pass


@dataclass(frozen=True)
class Switch:
    api: Api
    model: str
    abandon: bool


@dataclass(frozen=True)
class Compact:
    """Ask for a summary, queue that many messages behind it, stop after so many events, if at all."""

    queued: int = 0
    stop_after: int | None = None


Action = Turn | Own | Discard | Switch | Compact
_MESSAGE = re.compile(r"\bm\d+\.")
NAMED = "@shot.png"
"""What some messages name: it is there in every workspace."""
Planned = tuple[str, tuple[str, ...]]
"""What the server does next: the kind of its answer, and for a step the kinds of its calls."""

stops = st.none() | st.integers(1, 14)
steers = st.none() | st.none() | st.integers(1, 10)
actions: st.SearchStrategy[Action] = st.one_of(
    st.builds(Turn, st.just("send"), st.sampled_from([0, 0, 0, 1]), stops, steers),
    st.builds(Turn, st.just("retry"), st.just(0), stops, steers),
    st.builds(Own),
    st.builds(Discard),
    st.builds(Compact, st.sampled_from([0, 0, 0, 1]), stops),
    st.builds(Switch, st.sampled_from(APIS), st.sampled_from(["scripted", "other"]), st.booleans()),
)
calls = st.sampled_from(["count", "count", "fail", "write", "unknown", "broken"])
steps = st.lists(calls, min_size=1, max_size=3)
answers = st.one_of(
    steps.map(lambda kinds: ("step", tuple(kinds))),
    st.sampled_from(
        ["done", "done", "cut", "cut args", "end", "close", "fail", "500", "401", "gone", "empty", "length"]
    ).map(lambda kind: (kind, ())),
)


@dataclass
class World:
    """The server's side of a script: what it will answer, and which calls it has made up."""

    plan: list[Planned]
    made: int = 0
    halves: list[str] = field(default_factory=list)

    def __call__(self, request: RecordedRequest) -> Answer:
        kind, parts = self.plan.pop(0) if self.plan else ("done", ())
        match kind:
            case "step":
                return Reply([Think("Hm."), Say("Step."), *map(self._call, parts)])
            case "cut":
                return Reply([Say("A sentence that is cut")], broken=Break("reset", after_deltas=1))
            case "end":
                return Reply([Say("A sentence that ends")], broken=Break("end", after_deltas=1))
            case "cut args":
                half = self._call("count")
                self.halves.append(str(half.arguments))
                return Reply([half], broken=Break("close", in_arguments=True))
            case "close" | "gone":
                return NoAnswer("close" if kind == "close" else "reset")
            case "fail":
                return Reply([Say("Half"), Fail("crashed")])
            case "500" | "401":
                return HttpAnswer(int(kind), {"error": {"message": "no"}})
            case "empty":
                return Reply([])
            case "length":
                return Reply([Say("As far as")], finish="length")
        return DONE

    def _call(self, kind: str) -> Call:
        self.made += 1
        name = f"c{self.made}."
        match kind:
            case "count":
                return Call("bash", {"command": f"echo {name} >> counter"})
            case "fail":
                return Call("bash", {"command": f"echo {name} >> counter; exit 3"})
            case "write":
                return Call("write_file", {"path": f"f{self.made % 3}.txt", "content": name})
            case "unknown":
                return Call("no_such_tool", {"x": name})
        return Call("bash", '{"command": "echo never')


class Script:
    """Plays actions on a session and checks, after each, all that must hold."""

    def __init__(self, bench: Bench, workspace: Path, world: World) -> None:
        self.bench = bench
        self.session = bench.session
        self.workspace = workspace
        self.world = world
        self.sent: list[str] = []
        self.commands: list[str] = []

    async def play(self, action: Action) -> None:
        try:
            match action:
                case Turn() | Compact():
                    await self._run(action)
                case Own():
                    self.commands.append(f"echo own{len(self.commands)}")
                    self.session.run_own(self.commands[-1])
                    await until_idle(self.session)
                case Discard():
                    self.session.discard()
                case Switch(api, model, abandon):
                    provider = provider_for(self.bench.server, api, model=model)
                    self.session.switch(provider, ModelInfo(provider="p", id=model, api=api), abandon=abandon)
        except SessionRefused:
            pass
        await asyncio.sleep(0)
        await self._read_all()
        self.check()

    async def _run(self, action: Turn | Compact) -> None:
        before = len(self.bench.log.events)
        self._begin(action)
        if isinstance(action, Turn) and action.steer_after is not None:
            await self._events(before + action.steer_after)
            self.session.steer(self._message())
        if action.stop_after is not None:
            await self._events(before + action.stop_after)
            self.session.stop()
        await until_idle(self.session)

    async def _events(self, goal: int) -> None:
        """Wait until so many events were read, or nothing runs any more."""
        await until(lambda: len(self.bench.log.events) >= goal or not self.session.running, moment=one_round)

    def _message(self) -> str:
        """A new message; every third one names an image."""
        number = len(self.sent)
        self.sent.append(f"m{number}." if number % 3 else f"m{number}. {NAMED}")
        return self.sent[-1]

    def _begin(self, action: Turn | Compact) -> None:
        messages = action.queued
        match action:
            case Turn(what="retry"):
                self.session.retry()
            case Turn():
                messages += 1
            case Compact():
                self.session.compact()
        for _ in range(messages):
            self.session.submit(self._message())

    async def _read_all(self) -> None:
        """Until the log has read what was published: each turn that started has its end in it."""
        log = self.bench.log
        await until(
            lambda: len(log.ends) >= len(log.of(TurnStarted)) and not self.session.running, moment=one_round
        )
        await until(lambda: folded(self.bench) == self.session.conversation, moment=one_round)

    def check(self) -> None:
        log = self.bench.log
        assert len(log.ends) == len(log.of(TurnStarted)), "exactly one end a turn"
        self._check_compactions()
        self.bench.assert_valid_requests()
        self._check_messages()
        self._check_commands()
        self._check_images()
        self._check_side_effects()
        self._check_memory()

    def _check_messages(self) -> None:
        """No message is lost, none is there twice, and a request holds those of its time in their order."""
        taken = [event.text for event in self.bench.log.of(MessageTakenBack)]
        begun = [text for _, text in _begun(self.bench)]
        steered = [event.text for event in self.bench.log.of(Steered)]
        assert sorted([*begun, *steered, *self.session.queue]) == sorted(self.sent)
        users = [message.text for message in self.session.conversation if message.role == "user"]
        kept = [text for text in self._said() if text not in taken and text not in self._summarised()]
        assert users == ([COMPACTED] if self._summarised() else []) + kept
        turn_of = {
            event.arguments["command"]: event.turn
            for event in self.bench.log.of(ToolFinished)
            if "command" in event.arguments
        }
        numbers = {text.split()[0]: number for number, text in _numbered(self.bench)}
        for number in range(len(self.bench.server.requests)):
            last = ""
            for message in self.bench.messages(number):
                if message.role == "user":
                    assert len(message.images) <= message.text.count(NAMED)
                    words = _MESSAGE.findall(message.text)
                    assert len(set(words)) == len(words)
                    last = words[-1] if words else ""
                for call in message.calls:
                    turn = turn_of.get(call.arguments.get("command", ""))
                    assert turn is None or numbers[last] == turn, "a trace stands behind its own message"

    def _said(self) -> list[str]:
        """The messages as the conversation has them: turn by turn, what was handed in behind what began the
        turn, once a reply stands for it."""
        replies = (event for event in self.bench.log.events if isinstance(event, TurnDone | TurnAbandoned))
        settled = max((event.turn for event in replies), default=0)
        said = _begun(self.bench)
        said += [(event.turn, event.text) for event in self.bench.log.of(Steered) if event.turn <= settled]
        return [text for _, text in sorted(said, key=lambda each: each[0])]

    def _check_commands(self) -> None:
        """What the user ran stands before the message that came next, once; a summary takes the oldest."""
        ran = [run.command for message in self.session.conversation for run in message.ran]
        ran += [run.command for run in self.session.past.ran]
        finished = [event.command for event in self.bench.log.of(ShellFinished)]
        assert finished[len(finished) - len(ran) :] == ran
        assert self._summarised() or ran == finished

    def _check_images(self) -> None:
        """A message has its image as soon as that was read, wherever the message goes."""
        read = {event.turn for event in self.bench.log.of(ImagesAttached)}
        for message in self.session.conversation:
            assert not message.images or NAMED in message.text
            if message.role == "user" and message.text.endswith(NAMED) and message.turn not in read:
                assert not message.images

    def _check_compactions(self) -> None:
        """Each ends once, and a summary carries all that was remembered."""
        under_way = False
        for event in self.bench.log.events:
            match event:
                case CompactionStarted():
                    under_way = True
                case Compacted() | CompactionFailed():
                    assert under_way, "exactly one end a compaction"
                    under_way = False
        assert not under_way
        remembered = merged_memory(
            event.turn_memory
            for event in self.bench.log.events
            if isinstance(event, TurnDone | TurnAbandoned)
        )
        kept = merged_memory(message.memory for message in self.session.conversation if message.memory)
        assert kept == remembered

    def _summarised(self) -> set[str]:
        """The messages that a summary stands for."""
        turn = max((event.turn for event in self.bench.log.of(Compacted)), default=0)
        return {text for number, text in _numbered(self.bench) if number <= turn}

    def _check_side_effects(self) -> None:
        counter = self.workspace / "counter"
        ran = counter.read_text().split() if counter.exists() else []
        assert len(set(ran)) == len(ran), "no call runs twice"
        for event in self.bench.log.of(ToolFinished):
            command = str(event.arguments.get("command", ""))
            if event.result.ran and not event.result.interrupted and command.startswith("echo c"):
                assert ran.count(command.split()[1]) == 1, "what has a result has run"
        assert not any(name in half for name in ran for half in self.world.halves), "none runs half"

    def _check_memory(self) -> None:
        """Every end tells exactly the facts of the calls since the last message that was committed."""
        facts: list[Fact] = []
        for event in self.bench.log.events:
            if isinstance(event, ToolFinished):
                facts += event.result.facts
            elif isinstance(event, TurnDone | TurnAbandoned):
                assert event.turn_memory == turn_memory(facts)
                facts.clear()
            elif isinstance(event, TurnIncomplete):
                assert event.turn_memory == turn_memory(facts)
            elif isinstance(event, TurnError):
                assert not facts


def _begun(bench: Bench) -> list[tuple[int, str]]:
    """The messages that began a turn, with its number."""
    return [(event.turn, event.text) for event in bench.log.of(TurnStarted) if event.text is not None]


def _numbered(bench: Bench) -> list[tuple[int, str]]:
    """All messages with the number of their turn."""
    return _begun(bench) + [(event.turn, event.text) for event in bench.log.of(Steered)]


async def run(
    api: Api, policy: PolicyName, script: list[Action], plan: list[Planned], workspace: Path
) -> None:
    world = World([("step", ("write", "fail"))])
    (workspace / "shot.png").write_bytes(png())
    async with (
        asyncio.timeout(LIMIT * 2),
        at_work(world, workspace, api=api, policy=policy, retries=QUICK_RETRIES, max_steps=6) as bench,
    ):
        player = Script(bench, workspace, world)
        await player.play(Turn("send"))
        world.plan = plan
        for action in script:
            await player.play(action)
        world.plan.clear()
        await player.play(Compact())
        await player.play(Turn("retry"))
        for _ in range(3):
            await player.play(Turn("send"))
        end: EndEvent = bench.log.ends[-1]
        assert isinstance(end, TurnDone), "a server that answers well gets everything done"
        assert bench.session.pending is None
        assert bench.session.queue == ()
        images = [image for message in bench.session.conversation for image in message.images]
        assert images and sum(len(message.images) for message in bench.messages()) == len(images)


@settings(max_examples=EXAMPLES)
@given(
    api=st.sampled_from(APIS),
    policy=st.sampled_from(POLICIES),
    script=st.lists(actions, min_size=1, max_size=6),
    plan=st.lists(answers, max_size=12),
)
def test_whatever_happens_nothing_is_lost_doubled_or_run_twice(
    api: Api, policy: PolicyName, script: list[Action], plan: list[Planned]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(api, policy, script, list(plan), Path(folder)))
