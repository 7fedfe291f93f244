"""One session as an editor uses it: prompts in, updates out, questions in between."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from acp.agent.connection import AgentSideConnection
from acp.schema import (
    AgentMessageChunk,
    ConfigOptionUpdate,
    CurrentModeUpdate,
    PromptResponse,
    SessionInfoUpdate,
)
from msgspec import Struct

from keen_tui.domain.bus import Subscription
from keen_tui.domain.errors import KeenError
from keen_tui.domain.events import (
    ApprovalAnswered,
    ApprovalRequested,
    EndEvent,
    Event,
    ModeChanged,
    ModelChanged,
    PolicyChanged,
    QuestionAnswered,
    QuestionAsked,
    SessionOpened,
    SessionRestored,
    TurnDone,
    TurnError,
    TurnIncomplete,
    Usage,
)
from keen_tui.frontends.acp import numbers
from keen_tui.frontends.acp.asking import DECLINE, EditorAnswer, EditorAsker, allows
from keen_tui.frontends.acp.commands import EditorUi, offered_update, run_command
from keen_tui.frontends.acp.content import PromptBlock, is_typed, message_of
from keen_tui.frontends.acp.options import options_of
from keen_tui.frontends.acp.prompt_result import stop_reason, sum_of
from keen_tui.frontends.acp.updates import Updates
from keen_tui.frontends.shared.commands.command import REPLAY_REFUSAL, Command, kept
from keen_tui.frontends.shared.commands.slash import Called, SlashCommands
from keen_tui.frontends.shared.history_port import HistoryPort
from keen_tui.frontends.shared.lines.session_stats import SessionStats
from keen_tui.frontends.shared.port import FrontEndSetup, SessionControls
from keen_tui.frontends.shared.questions import SCOPES, Choice
from keen_tui.frontends.shared.run_status import left_over

log = logging.getLogger(__name__)

_OWN_COMMAND: Final = "!"
_ENDS: Final = (TurnDone, TurnIncomplete, TurnError)
_CHOICES: Final = (ModeChanged, ModelChanged, PolicyChanged)
_LAST_WORDS: Final = 2.0
"""Seconds that a closing session has to send its last events."""


class EditorClient(Struct, frozen=True):
    """The capabilities of an editor: it shows `forms`, and shows output in `terminals` of its own."""

    forms: bool = False
    terminals: bool = False


class EditorSession:
    """A session and the editor that uses it."""

    def __init__(self, setup: FrontEndSetup, connection: AgentSideConnection, client: EditorClient) -> None:
        self.setup = setup
        self.id = ""
        self._session = setup.session
        self._connection = connection
        self._client = client
        self._updates = Updates(self._session.workspace, terminals=client.terminals)
        self._stats = SessionStats()
        self._slash = SlashCommands(setup.commands, setup.skills, setup.servers)
        self._ui = EditorUi(setup, self, self._stats, self._slash)
        self._asker = EditorAsker(connection, "", forms=client.forms)
        self._batches: Subscription | None = None
        self._following: asyncio.Task[None] | None = None
        self._driving: asyncio.Task[None] | None = None
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._one_prompt = asyncio.Lock()
        self._settled = asyncio.Event()
        self._command: asyncio.Task[str] | None = None
        self._cancels = 0
        self._is_prompted = False
        self._is_telling = False
        self._is_gone = False
        self._held: list[AgentMessageChunk] = []
        self._end: EndEvent | None = None
        self._usage: list[Usage] = []

    # From the beginning to the end

    async def begin(self, opens: str = "", *, copies: bool = False, replays: bool = False) -> None:
        """Begin a session, or open the saved one with the id `opens`, or with `copies` a copy of it.
        `replays`: send the editor everything that happened in it.

        Raises:
            KeenError: the session can't be opened.
        """
        self._batches = batches = self._session.bus.subscribe()
        history = self._history
        await history.begin()
        if opens:
            await (history.fork(opens) if copies else history.open(opens))
        elif problem := await history.promise():
            self._held += self._updates.notice(problem)
        self.id = history.session_id
        self._asker = EditorAsker(self._connection, self.id, forms=self._client.forms)
        await self._tell_past(await _published(batches), replays=replays)
        for problem in self.setup.problems:
            self._held += self._updates.notice(problem)
        self._following = asyncio.create_task(self._follow(batches), name=f"editor {self.id}")
        if runs := self.setup.runs:
            self._driving = asyncio.create_task(runs.follow(), name=f"runs {self.id}")
        self._controls.warm_up()

    async def introduce(self) -> None:
        """Send the editor the slash commands."""
        await self._send(offered_update(self._slash))

    async def close(self) -> None:
        """Stop what runs and close the session. Everything is saved then, an incomplete turn too: an editor
        that goes away asks nobody."""
        self._cancels += 1
        self._settled.set()
        if self._command:
            self._command.cancel()
        if self.setup.runs:
            self.setup.runs.leave()
        if self.setup.history:
            self.setup.history.keep_unasked()
        await self._session.close()
        if self.setup.prompts:
            await self.setup.prompts.close()
        problem = await self._history.close() if self.setup.history else ""
        if problem:
            log.error("%s", problem)
        if self._following:
            await asyncio.wait({self._following}, timeout=_LAST_WORDS)
        for task in (self._following, self._driving, *self._asking.values()):
            if task:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
        self._settled.set()  # prompts that came before the end are answered

    # What the editor asks for

    @property
    def is_busy(self) -> bool:
        """Whether a job or a run is active."""
        return self._session.running or (self.setup.runs is not None and self.setup.runs.is_driven)

    @property
    def has_turns(self) -> bool:
        """Whether there was a turn. A session without one isn't saved."""
        return bool(self._stats.turns)

    async def prompt(self, blocks: Sequence[PromptBlock]) -> PromptResponse:
        """Send a message, or run a command, and wait until the turns that it starts have ended.

        Raises:
            KeenError: the message or the command is refused.
        """
        cancels = self._cancels
        workspace, prompts = self._session.workspace, self.setup.prompts
        text = await message_of(blocks, workspace, prompts)
        called = self._slash.called(text) if is_typed(blocks) else None
        if self._one_prompt.locked() and called and isinstance(called.what, Command):
            await run_command(self._ui, self._slash, called)  # beside the turn that runs
            return PromptResponse(stop_reason="end_turn")
        async with self._one_prompt:
            is_own = is_typed(blocks) and text.startswith(_OWN_COMMAND)
            return await self._answer(text, called, cancels, is_own=is_own)

    def cancel(self) -> None:
        """Stop what runs, and drop the prompts that wait."""
        self._cancels += 1
        if self._command:
            self._command.cancel()
        if not (self.setup.runs and self.setup.runs.stop()):
            self._session.stop()

    async def say(self, text: str) -> None:
        """Show a sentence in the session."""
        for update in self._updates.notice(text):
            await self._send(update)

    async def ask(
        self, title: str, body: tuple[str, ...], choices: tuple[Choice, ...]
    ) -> EditorAnswer | None:
        """Ask the person; None for no answer."""
        return await self._asker.choose(title, body, choices)

    # Prompts

    async def _answer(
        self, text: str, called: Called | None, cancels: int, *, is_own: bool
    ) -> PromptResponse:
        """Answer a prompt. `cancels` is the number of cancels when it came; more mean that it was
        cancelled."""
        self._end, self._usage, self._is_prompted = None, [], True
        held, self._held = self._held, []
        for update in held:
            await self._send(update)
        try:
            message = ""
            if cancels == self._cancels:
                message = await self._begin(text, called, is_own=is_own)
            if message.strip() and cancels == self._cancels:
                self._updates.heard = message
                self._controls.submit(message)
            await self._idle()
        except asyncio.CancelledError:
            if cancels == self._cancels:  # the connection has ended
                raise
        finally:
            self._is_prompted = False
            self._updates.heard = ""
        end = self._end
        return PromptResponse(
            stop_reason="cancelled" if cancels != self._cancels else stop_reason(end),
            usage=sum_of(self._usage),
            field_meta=numbers.of_turn(end) if end else None,
        )

    async def _begin(self, text: str, called: Called | None, *, is_own: bool) -> str:
        """Run a shell command of the user's or a slash command. Returns the message to send, "" for none."""
        if self.setup.prompts and text.strip():
            self.setup.prompts.sent(text)
        if is_own:
            self._controls.run_own(text.removeprefix(_OWN_COMMAND).strip())
            return ""
        if called is None:
            return text
        self._command = asyncio.create_task(run_command(self._ui, self._slash, called))
        try:
            return await self._command
        finally:
            self._command = None

    async def _idle(self) -> None:
        """Wait until nothing runs and all updates are sent."""
        if runs := self.setup.runs:
            await runs.caught_up()
        while self.is_busy or self._is_telling or (self._batches and self._batches.unread):
            self._settled.clear()
            if self._following is None or self._following.done():
                return
            await self._settled.wait()
            if runs:
                await runs.caught_up()

    # What happens

    async def _follow(self, batches: Subscription) -> None:
        async for batch in batches:
            self._is_telling = True
            for event in batch:
                try:
                    await self._take(event)
                except Exception:  # a bug here doesn't end the turn
                    log.exception("the editor couldn't be told of %s", type(event).__name__)
            self._is_telling = False
            self._settled.set()

    async def _take(self, event: Event) -> None:
        self._stats.note(event)
        self._updates.use_window(self._session.context_window)
        async for update in self._updates.of(event):
            await self._send_or_hold(update)
        match event:
            case TurnDone() | TurnIncomplete() | TurnError():
                self._end = event
            case Usage():
                self._usage.append(event)
            case ApprovalRequested():
                self._ask_beside(event.id, self._approve(event))
            case QuestionAsked():
                self._ask_beside(event.id, self._reply(event))
            case ApprovalAnswered() | QuestionAnswered():
                if asking := self._asking.pop(event.id, None):
                    asking.cancel()
        if isinstance(event, _CHOICES):
            await self._tell_choices(event)

    async def _tell_past(self, events: Sequence[Event], *, replays: bool) -> None:
        """Take the events of the opening. The editor gets those of earlier turns only if it `replays`."""
        opened = max((n for n, event in enumerate(events) if isinstance(event, SessionOpened)), default=0)
        is_past = any(isinstance(event, SessionRestored) for event in events[opened:])
        self._updates.calls.is_past = is_past
        last: list[AgentMessageChunk] = []
        is_over = False
        for event in events[opened:]:
            self._stats.note(event)
            self._updates.use_window(self._session.context_window)
            updates = [update async for update in self._updates.of(event)]
            if isinstance(event, SessionOpened) and event.title:
                await self._send_title(event.title)
            if replays:
                for update in updates:
                    await self._send(update)
            elif is_over:  # the opening itself did this, such as abandoning a turn
                self._held += [update for update in updates if isinstance(update, AgentMessageChunk)]
            elif isinstance(event, _ENDS):
                last = [update for update in updates if isinstance(update, AgentMessageChunk)]
            is_over = is_over or isinstance(event, SessionRestored)
        if self._session.pending and not replays:
            self._held += last
        if is_past:
            self._hold_left_over_run()
        self._updates.calls.is_past = False

    def _hold_left_over_run(self) -> None:
        runs = self.setup.runs
        if runs and runs.is_left_over:
            self._held += self._updates.notice(left_over(runs.progress))

    async def _tell_choices(self, event: Event) -> None:
        """Send the options after a change of the mode, the model or the policy."""
        if isinstance(event, ModeChanged):
            await self._send(
                CurrentModeUpdate(session_update="current_mode_update", current_mode_id=event.mode)
            )
        await self._send(
            ConfigOptionUpdate(
                session_update="config_option_update", config_options=[*options_of(self.setup)]
            )
        )

    async def _send_title(self, title: str) -> None:
        await self._send(SessionInfoUpdate(session_update="session_info_update", title=title))

    async def _send_or_hold(self, update: Any) -> None:
        """Send an update. Between prompts, messages are held until the next prompt."""
        if isinstance(update, AgentMessageChunk) and not self._is_prompted:
            self._held.append(update)
        else:
            await self._send(update)

    async def _send(self, update: Any) -> None:
        if self._is_gone:
            return
        try:
            await self._connection.session_update(self.id, update)
        except (ConnectionError, RuntimeError):  # the editor has gone, and the program is about to end
            self._is_gone = True

    # Questions

    def _ask_beside(self, id: str, asking: Any) -> None:
        self._asking[id] = asyncio.create_task(asking, name=f"question {id}")

    async def _approve(self, event: ApprovalRequested) -> None:
        answer = await self._asker.approval(event)
        self._asking.pop(event.id, None)
        if answer is None or answer.id == "stop":
            self._session.stop()
            return
        with suppress(KeenError):  # it was answered meanwhile
            scope = SCOPES.get(answer.id, "once")
            self._controls.answer(event.id, allow=allows(answer), scope=scope, message=answer.words)

    async def _reply(self, event: QuestionAsked) -> None:
        answer = await self._asker.question(event)
        self._asking.pop(event.id, None)
        choice = int(answer.id) if answer and answer.id != DECLINE.id else None
        with suppress(KeenError):
            self._controls.reply(event.id, choice, answer.words if answer else "")

    # Ports

    @property
    def _controls(self) -> SessionControls:
        return kept(self.setup.controls, REPLAY_REFUSAL)

    @property
    def _history(self) -> HistoryPort:
        return kept(self.setup.history, "Sessions aren't saved here.")


async def _published(batches: Subscription) -> list[Event]:
    """Everything that was published so far and isn't read yet."""
    events: list[Event] = []
    while batches.unread:
        events += await anext(batches)
    return events
