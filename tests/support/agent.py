"""A real session with real tools against the scripted model server, and a reader that keeps its events."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from keen_tui.agent.hooks.hooks import HookCommands
from keen_tui.agent.session import Session
from keen_tui.agent.shared_with_parent import Shared
from keen_tui.agent.subagents.sub_agents import SubAgents
from keen_tui.agent.turn.approvals import Permissions
from keen_tui.agent.turn.audience import NO_AUDIENCE, PERSON
from keen_tui.agent.turn.retries import RetryPolicy
from keen_tui.agent.turn.turn_setup import TurnOptions
from keen_tui.agent.turn.work_clock import WorkClock
from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Answer, RecordedRequest, Seen
from keen_tui.demo.wires import seen
from keen_tui.domain.bus import Subscription
from keen_tui.domain.choices import Api, Mode, PolicyName
from keen_tui.domain.events import (
    Compacted,
    CompactionFailed,
    EndEvent,
    Event,
    TurnDone,
    TurnError,
    TurnIncomplete,
)
from keen_tui.domain.models import ModelInfo
from keen_tui.providers.registry import build_provider
from keen_tui.providers.wire.provider import Connection, Provider
from keen_tui.settings.added.hooks import Hook
from keen_tui.settings.added.mcp_servers import McpServer
from keen_tui.settings.added.skills import Skill
from keen_tui.settings.additions import Additions
from keen_tui.tools.permissions.allowances import Allowances
from keen_tui.tools.process.hook_process import HookPrograms
from keen_tui.tools.rules.rules import NO_RULES, Rules
from keen_tui.tools.sandbox.command_network import NO_NETWORK, CommandNetwork
from keen_tui.tools.sandbox.probe import SandboxFinder
from keen_tui.tools.toolbox import CommandTerms, Toolbox, build_toolbox
from tests.support.waiting import LIMIT, one_round, until
from tests.support.wire import assert_valid

Found = TypeVar("Found", bound=Event)
Script = Sequence[Answer] | Callable[[RecordedRequest], Answer]

ONE_ATTEMPT = RetryPolicy(attempts=1)
QUICK_RETRIES = RetryPolicy(attempts=4, first_delay=0.001, longest_delay=0.001, rate_limit_wait=0.004)


class EventLog:
    """All published events, in order, with ways to wait for more."""

    def __init__(self, reader: Subscription) -> None:
        self.events: list[Event] = []
        self._changed = asyncio.Condition()
        self._reader = reader
        self._task = asyncio.create_task(self._read(reader))

    async def _read(self, reader: Subscription) -> None:
        async for batch in reader:
            async with self._changed:
                self.events.extend(batch)
                self._changed.notify_all()

    def of(self, kind: type[Found]) -> list[Found]:
        """The events of that type so far."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def ends(self) -> list[EndEvent]:
        """The end events so far."""
        return [event for event in self.events if isinstance(event, TurnDone | TurnIncomplete | TurnError)]

    @property
    def compactions(self) -> list[Compacted | CompactionFailed]:
        """How the compactions ended so far."""
        return [event for event in self.events if isinstance(event, Compacted | CompactionFailed)]

    async def wait_for(self, kind: type[Found], count: int = 1) -> Found:
        """The `count`-th event of that type, once it has arrived."""
        await self._until(lambda: len(self.of(kind)) >= count)
        return self.of(kind)[count - 1]

    async def wait_for_end(self, count: int = 1) -> EndEvent:
        """The `count`-th end event, once it has arrived."""
        await self._until(lambda: len(self.ends) >= count)
        return self.ends[count - 1]

    async def wait_for_compaction(self, count: int = 1) -> Compacted | CompactionFailed:
        """How the `count`-th compaction ended, once it has."""
        await self._until(lambda: len(self.compactions) >= count)
        return self.compactions[count - 1]

    async def wait_for_more(self, count: int) -> None:
        """Wait until more than `count` events have arrived, however long that takes."""
        async with self._changed:
            await self._changed.wait_for(lambda: len(self.events) > count)

    async def caught_up(self) -> None:
        """Wait until everything published so far has arrived."""
        await until(lambda: not self._reader.unread, moment=one_round)
        async with self._changed:
            pass  # the reader has noted the events that it took

    async def _until(self, reached: Callable[[], bool]) -> None:
        async with self._changed, asyncio.timeout(LIMIT):
            await self._changed.wait_for(reached)


@dataclass(frozen=True, slots=True)
class Bench:
    """A session at work, with its events, the requests to its server, and its first provider."""

    session: Session
    log: EventLog
    server: ModelServer
    provider: Provider

    async def ask(self, text: str) -> EndEvent:
        """Submit a message and wait for the turn's end."""
        before = len(self.log.ends)
        self.session.submit(text)
        return await self.log.wait_for_end(before + 1)

    async def retry(self) -> EndEvent:
        """Press retry and wait for the turn's end."""
        before = len(self.log.ends)
        self.session.retry()
        return await self.log.wait_for_end(before + 1)

    async def compact(self, focus: str = "") -> Compacted | CompactionFailed:
        """Have the conversation summarised and wait for the result."""
        before = len(self.log.compactions)
        self.session.compact(focus)
        return await self.log.wait_for_compaction(before + 1)

    def messages(self, number: int = -1) -> list[Seen]:
        """The messages in a request after the system prompt."""
        system, *rest = seen(self.server.requests[number])
        assert system.role == "system"
        return rest

    def lines(self, number: int = -1) -> list[str]:
        """The messages in a request after the system prompt, one line for each text, call and result, without
        ids."""
        return [line for message in self.messages(number) for line in _lines(message)]

    def system(self, number: int = -1) -> str:
        """The system prompt of a request."""
        return seen(self.server.requests[number])[0].text

    def results(self, number: int = -1) -> list[str]:
        """The texts of the tool results in a request."""
        return [message.text for message in self.messages(number) if message.role == "tool"]

    def switch(self, api: Api | None = None, *, abandon: bool = False, **options: Any) -> None:
        """Continue with another model, key or server; `options` are those of the Connection."""
        api = api or self.session.identity.api
        provider = provider_for(self.server, api, **options)
        self.session.switch(provider, ModelInfo(provider="p", id=provider.model, api=api), abandon=abandon)

    def assert_valid_requests(self) -> None:
        """Assert that every request is valid for its API."""
        assert_valid(self.server.requests)


def _lines(message: Seen) -> Iterator[str]:
    if message.role != "assistant":
        yield f"{'result' if message.role == 'tool' else message.role}: {message.text}"
        return
    if message.text:
        yield f"assistant: {message.text}"
    for call in message.calls:
        yield f"call: {call.name} {json.dumps(call.arguments, ensure_ascii=False)}"


class AtWork(Protocol):
    """`at_work` for one API."""

    def __call__(
        self,
        script: Script,
        workspace: Path,
        *,
        mode: Mode = "auto",
        retries: RetryPolicy = ONE_ATTEMPT,
        attended: bool = True,
        max_steps: int = 20,
        clock: Callable[[], float] = time.monotonic,
        policy: PolicyName = "summary",
        info: ModelInfo | None = None,
        compact_at: int = 85,
        allowances: Allowances | None = None,
        network: CommandNetwork = NO_NETWORK,
        skills: Sequence[Skill] = (),
        rules: Rules = NO_RULES,
        servers: Sequence[McpServer] = (),
        hooks: Sequence[Hook] = (),
    ) -> AbstractAsyncContextManager[Bench]: ...


def provider_for(server: ModelServer, api: Api = "openai-chat", **options: Any) -> Provider:
    """A provider that speaks to the server in that API."""
    given: dict[str, Any] = {
        "model": "scripted",
        "base_url": server.base_url,
        "api_key": "test-key",
        "key_source": "TEST_KEY",
    }
    return build_provider(api, Connection(**given | options))


@asynccontextmanager
async def at_work(
    script: Script,
    workspace: Path,
    *,
    mode: Mode = "auto",
    retries: RetryPolicy = ONE_ATTEMPT,
    attended: bool = True,
    max_steps: int = 20,
    clock: Callable[[], float] = time.monotonic,
    policy: PolicyName = "summary",
    info: ModelInfo | None = None,
    compact_at: int = 85,
    allowances: Allowances | None = None,
    api: Api = "openai-chat",
    sandbox: SandboxFinder | None = None,
    network: CommandNetwork = NO_NETWORK,
    rules: Rules = NO_RULES,
    set_aside: Path | None = None,
    skills: Sequence[Skill] = (),
    servers: Sequence[McpServer] = (),
    hooks: Sequence[Hook] = (),
    toolbox: Toolbox | None = None,
) -> AsyncIterator[Bench]:
    """A session in `workspace` with the real SDK, a scripted server, and the real tools or those given."""
    async with ModelServer(script) as server:
        provider = provider_for(server, api)
        session = Session(
            workspace=workspace,
            provider=provider,
            agents=SubAgents(),
            toolbox=toolbox
            or build_toolbox(
                workspace,
                rules=rules,
                commands=CommandTerms(sandbox=sandbox, network=network, aside=set_aside),
                additions=Additions(skills=tuple(skills), servers=tuple(servers)),
            ),
            info=info,
            permissions=Permissions(
                mode=mode,
                audience=PERSON if attended else NO_AUDIENCE,
                rules=rules,
                allowances=allowances,
                network=network.setting,
            ),
            options=TurnOptions(max_steps=max_steps, retries=retries, policy=policy, compact_at=compact_at),
            hooks=HookCommands(hooks, HookPrograms(workspace, {"CLAUDE_PROJECT_DIR": str(workspace)})),
            shared=Shared(clock=WorkClock(clock)),
        )
        log = EventLog(session.bus.subscribe())
        try:
            yield Bench(session, log, server, provider)
        finally:
            await session.close()
