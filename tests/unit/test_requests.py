"""Requests that go on from the one before: made and encoded piece by piece, they are what they would be made
and encoded at once."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keen_tui.domain.choices import Api, PolicyName
from keen_tui.domain.events import Event, MemoryEdited, MessageTakenBack, TurnAbandoned, TurnDone, TurnUndone
from keen_tui.domain.messages import ToolSpec, TurnMemory
from keen_tui.domain.reports import POLICIES
from keen_tui.memory.conversation import Conversation
from keen_tui.memory.pending import PendingTrace, native_bytes
from keen_tui.memory.policies import policy_of
from keen_tui.memory.projection import (
    AssistantText,
    NativeTrace,
    Part,
    PastStep,
    Projector,
    UserText,
)
from keen_tui.providers.registry import APIS, build_provider
from keen_tui.providers.wire.encoding import Encoder
from keen_tui.providers.wire.http_provider import HttpProvider
from keen_tui.providers.wire.provider import Connection, StepRequest
from tests.support import session_files

each_api = pytest.mark.parametrize("api", APIS)

TOOLS = (ToolSpec(name="bash", description="Run it.", parameters={"type": "object"}),)
MEMORY = TurnMemory(files_changed=("a.py",), notes=("note",))

said = st.sampled_from(["hi", "two\nlines", "Größe \u2028", "half \ud83d", "\ud83d\ude00", "\0"])
replies = st.sampled_from(["Done.", "", "  \n", "long " * 50, "half \udc00"])

actions = st.one_of(
    st.tuples(st.just("turn"), said, replies, st.booleans()),
    st.tuples(st.just("turn"), said, replies, st.booleans()),
    st.tuples(st.sampled_from(["unanswered", "abandoned"]), said, st.booleans()),
    st.tuples(st.sampled_from(["taken back", "undone", "edited", "compacted", "an option less"])),
    st.tuples(st.just("policy"), st.sampled_from(POLICIES)),
)


def provider_of(api: Api) -> HttpProvider:
    provider = build_provider(api, Connection(model="m", base_url="http://localhost:1", effort="high"))
    assert isinstance(provider, HttpProvider)
    return provider


class Life:
    """A session without a loop: a conversation that grows, the traces of what is not answered, requests."""

    def __init__(self, api: Api) -> None:
        self.provider = provider_of(api)
        self.conversation = Conversation()
        self.traces: list[PendingTrace] = []
        self.policy: PolicyName = "summary"
        self.projector = Projector()
        self.turn = 0

    def take(self, *events: Event) -> None:
        for event in events:
            self.conversation.take(event)

    def act(self, what: str, *words: Any) -> None:
        match what, words:
            case "turn", (text, reply, works):
                self._begin(text, works=works)
                self._answer(session_files.done(self.turn, reply, memory=MEMORY if works else None))
            case "unanswered", (text, works):
                self._begin(text, works=works)
                if works:
                    self._keep_trace()
            case "abandoned", (text, works):
                self._begin(text, works=works)
                end = TurnAbandoned(turn=self.turn, turn_memory=MEMORY, carried_bytes=1, trace_bytes=1)
                self._answer(end)
            case "taken back", _ if self.conversation.unanswered and not self.traces:
                self.take(MessageTakenBack(turn=self.turn, text=""))
            case "undone", _ if not self.conversation.unanswered:
                self.take(TurnUndone(turn=self.turn, undone=1, files=("a.py",)))
            case "edited", _:
                first = next((message.turn for message in self.conversation.answered), 0)
                self.take(MemoryEdited(turn=first, turn_memory=MEMORY, carried_bytes=1))
            case "compacted", _ if self.conversation.answered:
                self.take(session_files.compacted(self.conversation.answered[-1].turn))
            case "policy", (name,):
                self.policy = name
            case "an option less", _ if self.provider.options:
                self.provider.options.discard(min(self.provider.options))

    def check(self) -> None:
        """What is sent now is what it would be if it was made and encoded for the first time."""
        past, policy = self.conversation.past, policy_of(self.policy)
        parts = self.projector.project(past, self.traces, policy)
        assert parts == Projector().project(past, self.traces, policy)
        request = StepRequest(system="Be \ud800 good.", parts=parts, tools=TOOLS)
        encoded, body = self.provider.encoded(request), self.provider.body(request)
        assert json.loads(encoded) == json.loads(json.dumps(body))
        assert len(encoded) == native_bytes((body,))
        natives = (message for part in parts for message in self.provider.native(part))
        ids = {id for message in natives for id in self.provider.ids_in(message)}
        assert self.provider.taken_ids(request) == ids

    def _begin(self, text: str, *, works: bool) -> None:
        self.turn += 1
        self.take(session_files.started(self.turn, text))
        if works:
            self.take(*session_files.call(self.turn, f"c{self.turn}", text=f"result {self.turn}"))

    def _keep_trace(self) -> None:
        steps = self.conversation.past.steps[self.turn]
        messages = tuple(each for step in steps for each in self.provider.native(PastStep(step)))
        self.traces.append(PendingTrace(self.turn, messages))

    def _answer(self, event: TurnDone | TurnAbandoned) -> None:
        self.take(event)
        self.traces.clear()


@each_api
@given(st.lists(actions, max_size=25))
def test_every_request_is_what_it_would_be_made_at_once(api: Api, script: list[tuple[Any, ...]]) -> None:
    life = Life(api)
    for action in script:
        life.act(*action)
        life.check()


@each_api
def test_the_turns_that_are_over_are_neither_projected_nor_encoded_again(api: Api) -> None:
    life = Life(api)
    for _ in range(20):
        life.act("turn", "hi", "Done.", False)
        life.check()
    policy = policy_of("summary")
    before = life.projector.project(life.conversation.past, (), policy)
    life.act("unanswered", "hi", True)
    life.check()
    life.traces[-1] = PendingTrace(life.turn, life.traces[-1].messages * 2)
    life.check()
    after = life.projector.project(life.conversation.past, life.traces, policy)
    assert all(new is old for new, old in zip(after, before, strict=False))
    assert isinstance(after[-1], NativeTrace)


def test_a_step_of_the_same_turn_encodes_only_what_is_new() -> None:
    encoded: list[Part] = []

    def messages(parts: Sequence[Part]) -> list[dict[str, str]]:
        encoded.extend(parts)
        return [{"is": type(part).__name__} for part in parts]

    encoder = Encoder(messages, lambda made: made)
    turns: tuple[Part, ...] = (UserText("hi"), AssistantText("Done.")) * 20
    first, second = (*turns, UserText("now")), (*turns, UserText("now"), NativeTrace(({"id": "a"},)))
    encoder.encoded({"model": "m"}, "messages", first)
    encoded.clear()
    encoder.encoded({"model": "m"}, "messages", second)
    assert encoded == list(second[2 * 18 :])


def test_an_option_that_was_refused_is_missing_in_what_was_encoded_before_too() -> None:
    provider = provider_of("openai-responses")
    item = {"type": "function_call", "id": "i1", "call_id": "c1", "name": "bash", "arguments": "{}"}
    turn = (UserText("hi"), AssistantText("Done."))
    parts = (UserText("hi"), NativeTrace((item,)), AssistantText("Done."), *turn * 3, UserText("now"))
    request = StepRequest(system="", parts=parts, tools=())
    assert b'"id":"i1"' in provider.encoded(request)
    provider.options.remove("ids")
    assert b'"id":"i1"' not in provider.encoded(request)


@each_api
@pytest.mark.parametrize("key", ["sk-1", "", "half\u2026"])
def test_creating_one_imports_no_sdk_and_load_imports_all_that_a_request_needs(api: Api, key: str) -> None:
    program = """
import asyncio, sys
from keen_tui.domain.errors import ProviderError
from keen_tui.providers.wire.provider import Connection, StepRequest
from keen_tui.providers.registry import build_provider

async def request():
    try:
        async for _ in provider.stream_step(StepRequest(system="", parts=(), tools=())):
            pass
    except ProviderError:
        pass

api, key = sys.argv[1:]
provider = build_provider(api, Connection(model="m", base_url="http://localhost:1", api_key=key))
assert not {"openai", "anthropic", "httpx2"} & sys.modules.keys()
provider.load()
provider.load()
loaded = set(sys.modules)
asyncio.run(request())
assert not {name for name in sys.modules.keys() - loaded if name.startswith(("openai", "anthropic", "anyio"))}
"""
    subprocess.run([sys.executable, "-c", program, api, key], check=True)
