"""A session for tests of the screen: publishes given events and records calls."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from keen_tui.domain.bus import EventBus
from keen_tui.domain.choices import Mode, PolicyName, Scope
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.events import (
    ApprovalAnswered,
    ApprovalRequested,
    Event,
    MemoryEdited,
    MessageTakenBack,
    ModeChanged,
    PolicyChanged,
    QuestionAnswered,
    QuestionAsked,
    QueueChanged,
)
from keen_tui.domain.facts.skill_used import SkillUsed
from keen_tui.domain.messages import TurnMemory
from keen_tui.domain.permitted import Permitted
from keen_tui.domain.reports import ContextReport, NextSizes, PartSize
from keen_tui.memory.pending import PendingState

_NOTHING = PartSize(text="", bytes=0, tokens=0)


class FakeSession:
    """Every call on it becomes a row in `calls`, for example `("submit", "hello")`.

    `report` is its context report; with a `refusal` it refuses everything that a session may refuse.
    """

    def __init__(self, workspace: Path, *, context_window: int | None = 200_000) -> None:
        self.bus = EventBus()
        self.workspace = workspace
        self.model = "qwen3-coder"
        self.server = "ollama"
        self.effort = ""
        self.mode: Mode = "ask"
        self.policy: PolicyName = "summary"
        self.running = False
        self.pending: PendingState | None = None
        self.context_window = context_window
        self.sizes = NextSizes(next_bytes=0, whole_bytes=0)
        self.queue: tuple[str, ...] = ()
        self.steered: tuple[str, ...] = ()
        self.skills_in_use: tuple[SkillUsed, ...] = ()
        self.calls: list[tuple[object, ...]] = []
        self.permitted = Permitted()
        self._open: dict[str, int] = {}
        self.refusal = ""
        self.failed_message = ""
        self.report = ContextReport(
            policy="summary", window=context_window, parts=(), totals=(_NOTHING, _NOTHING, _NOTHING)
        )

    def publish(self, *events: Event) -> None:
        """Publish these events. Approvals and questions among them are open from then on."""
        for event in events:
            if isinstance(event, ApprovalRequested | QuestionAsked):
                self._open[event.id] = event.turn
            self.bus.publish(event)

    def warm_up(self, then: Callable[[], None] = lambda: None) -> None:
        self.calls.append(("warm_up",))
        then()

    def submit(self, text: str) -> None:
        self.calls.append(("submit", text))
        if self.running:
            self.queue = (*self.queue, text)
            self.publish(QueueChanged(texts=self.queue))

    def steer(self, text: str = "") -> None:
        self.calls.append(("steer", text))

    def retry(self) -> None:
        self._note("retry")

    def discard(self) -> None:
        self._note("discard")
        if self.failed_message:
            self.publish(MessageTakenBack(turn=1, text=self.failed_message))

    def stop(self) -> None:
        self.calls.append(("stop",))

    def answer(self, call_id: str, *, allow: bool, scope: Scope = "once", message: str = "") -> None:
        turn = self._close(call_id)
        self._note("answer", call_id, allow, scope, message)
        self.publish(
            ApprovalAnswered(
                turn=turn,
                id=call_id,
                allowed=allow,
                for_session=scope == "session",
                message=message,
                by="user",
            )
        )

    def reply(self, call_id: str, choice: int | None, words: str = "") -> None:
        turn = self._close(call_id)
        self._note("reply", call_id, choice, words)
        self.publish(QuestionAnswered(turn=turn, id=call_id, choice=choice, words=words, by="user"))

    async def take_back(self, command: str) -> None:
        self._note("take_back", command)

    def set_mode(self, mode: Mode) -> None:
        self.calls.append(("set_mode", mode))
        self.mode = mode
        self.publish(ModeChanged(mode=mode))

    def withdraw_queued(self) -> str | None:
        if not self.queue:
            return None
        *rest, newest = self.queue
        self.queue = tuple(rest)
        self.publish(QueueChanged(texts=self.queue))
        return newest

    def set_policy(self, policy: PolicyName) -> None:
        self._note("set_policy", policy)
        self.policy = policy
        self.publish(PolicyChanged(policy=policy))

    async def next_sizes(self) -> NextSizes:
        return self.sizes

    async def context(self, draft: str = "") -> ContextReport:
        self.calls.append(("context", draft))
        return self.report

    def edit_memory(self, turn: int, memory: TurnMemory) -> None:
        self._note("edit_memory", turn, memory)
        self.publish(MemoryEdited(turn=turn, turn_memory=memory, carried_bytes=100))

    def unload(self, skill: str) -> None:
        self._note("unload", skill)

    def compact(self, focus: str = "") -> None:
        self._note("compact", focus)

    def run_own(self, command: str) -> None:
        self._note("run_own", command)

    async def close(self) -> None:
        self.calls.append(("close",))
        self.bus.close()

    def _close(self, call_id: str) -> int:
        """Close the approval or question of a call; returns its turn."""
        turn = self._open.pop(call_id, None)
        if turn is None:
            raise SessionRefused("That question is no longer open.")
        return turn

    def _note(self, *call: object) -> None:
        if self.refusal:
            raise SessionRefused(self.refusal)
        self.calls.append(call)
