"""The hooks of a session: what they get at each event, and what their answers mean."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from keen_tui.agent.hooks.answers import NO_ANSWER, HookAnswer, joined
from keen_tui.agent.hooks.hook_runner import HookRunner, Programs
from keen_tui.agent.hooks.tool_names import UsualCall, own_arguments, usual_call
from keen_tui.domain.choices import Mode
from keen_tui.domain.events import (
    ApprovalRequested,
    Event,
    MessageTakenBack,
    Notice,
    QuestionAsked,
    TurnAbandoned,
    TurnIncomplete,
    TurnStarted,
)
from keen_tui.domain.messages import ToolCall, ToolResult
from keen_tui.settings.added.hooks import Hook, HookPoint
from keen_tui.system.background_jobs import BackgroundJobs

SessionSource = Literal["startup", "resume", "clear"]
"""Why a session begins: with the program, as a saved one, or as a new one in place of another."""

SessionEnd = Literal["clear", "resume", "other"]
"""Why a session ends: a new one or a saved one replaces it, or the program ends."""

END_SECONDS: Final = 10.0
"""Seconds that the end of the program waits for hooks."""

_MODES: Final[dict[Mode, str]] = {
    "ask": "default",
    "auto-edit": "acceptEdits",
    "plan": "plan",
    "auto": "bypassPermissions",
}


class SessionHooks:
    """Runs a session's hooks at its events.

    Args:
        runner: runs the hooks of an event.
        workspace: the root folder.
        publish: where notices go.
        mode: returns the current permission mode.
        background: for hooks that nobody waits for.
        agent: the sub-agent whose session it is, "" for none.

    `wants_end` is the reason if a hook wants the running turn to end.
    """

    def __init__(
        self,
        runner: HookRunner,
        workspace: Path,
        publish: Callable[[Event], None],
        mode: Callable[[], Mode],
        background: BackgroundJobs,
        agent: str = "",
    ) -> None:
        self.wants_end: str | None = None
        self._agent = agent
        self._session_id = ""
        self._transcript = ""
        self._runner = runner
        self._workspace = workspace
        self._publish = publish
        self._mode = mode
        self._background = background
        self._beginning: asyncio.Future[HookAnswer] | None = None
        self._told: set[str] = set()
        """The failures that the user was told in this session."""

    @property
    def session_context(self) -> str:
        """The text that hooks added at the session's start, for its system prompt; "" for none."""
        beginning = self._beginning
        if beginning is None or not beginning.done() or beginning.cancelled():
            return ""
        return beginning.result().context

    def switch(self, session_id: str, transcript: str, model: str, *, is_new: bool) -> None:
        """Another session is open, the first one or one in place of another: run the hooks for the end of
        that one and for the start of this one, and before the first one those for the setup. `begun` waits
        for the start."""
        source: SessionSource = ("clear" if self._session_id else "startup") if is_new else "resume"
        if self._session_id:
            self._background.add(_unheard(self._end("clear" if is_new else "resume")))
        sets_up = not self._session_id and self._runner.has("Setup", "init")
        self._session_id, self._transcript, self._beginning = session_id, transcript, None
        self._told.clear()
        if sets_up or self._runner.has("SessionStart", source):
            self._beginning = asyncio.ensure_future(self._begin(source, model, sets_up=sets_up))

    async def _begin(self, source: SessionSource, model: str, *, sets_up: bool) -> HookAnswer:
        setup = await self._ask("Setup", 0, ("init",), {"trigger": "init"}) if sets_up else NO_ANSWER
        start = await self._ask("SessionStart", 0, (source,), {"source": source, "model": model})
        return joined((setup, start))

    async def begun(self) -> None:
        """Wait until the hooks for the session's start have ended."""
        if self._beginning:
            await asyncio.wait({self._beginning})

    async def close(self) -> None:
        """Run the hooks for the end of the program, for at most END_SECONDS, and end those that nobody waits
        for."""
        if self._session_id:
            await self._end("other")
        await self._background.cancel()

    def _end(self, reason: SessionEnd) -> Awaitable[HookAnswer]:
        if self._beginning and not self._beginning.done():
            self._beginning.cancel()
        return self._ask("SessionEnd", 0, (reason,), {"reason": reason}, most_seconds=END_SECONDS)

    async def before_prompt(self, turn: int, text: str) -> HookAnswer:
        """The hooks' answer to a message of the user: it may be blocked, or get context. The task of a
        sub-agent can only get context."""
        if self._agent:
            return await self._ask("SubagentStart", turn, (self._agent,), self._about_agent)
        return await self._ask("UserPromptSubmit", turn, (), {"prompt": text})

    async def before_call(self, turn: int, call: ToolCall) -> HookAnswer:
        """The hooks' answer to a tool call. `arguments` have the tool's own names."""
        return await self._about_call("PreToolUse", turn, call, {})

    async def permission(self, turn: int, call: ToolCall) -> HookAnswer:
        """The hooks' answer to the question whether a call may run; the ruling "" leaves it to the person."""
        return await self._about_call("PermissionRequest", turn, call, {})

    async def after_call(self, turn: int, call: ToolCall, result: ToolResult) -> HookAnswer:
        """The hooks' answer to the result of a call: the reason of a block and context go to the model."""
        answers = []
        if result.ran:
            answers.append(await self._after_run(turn, call, result))
        if result.outcome == "failed":
            failure = {"error": result.text, "is_interrupt": False}
            answers.append(await self._about_call("PostToolUseFailure", turn, call, failure))
        return joined(answers)

    async def _after_run(self, turn: int, call: ToolCall, result: ToolResult) -> HookAnswer:
        response: dict[str, Any] = {"success": result.outcome == "done", "output": result.text}
        if result.exit_code is not None:
            response |= {"stdout": result.text, "stderr": "", "exitCode": result.exit_code}
        if path := usual_call(call, self._workspace).path:
            response["filePath"] = path
        return await self._about_call("PostToolUse", turn, call, {"tool_response": response})

    def follows(self, call: ToolCall) -> bool:
        """Whether hooks may run after that call."""
        usual = usual_call(call, self._workspace)
        points: Sequence[HookPoint] = ("PostToolUse", "PostToolUseFailure")
        return any(self._runner.has(point, usual.name, call.name, call=usual) for point in points)

    async def before_stop(self, turn: int, text: str, *, goes_on: bool) -> HookAnswer:
        """The hooks' answer to the end of a turn with the reply `text`: a block keeps it going. `goes_on`: a
        hook has done so before."""
        given: dict[str, Any] = {"stop_hook_active": goes_on, "last_assistant_message": text}
        if not self._agent:
            return await self._ask("Stop", turn, (), given)
        given |= {**self._about_agent, "agent_transcript_path": self._transcript}
        return await self._ask("SubagentStop", turn, (self._agent,), given)

    @property
    def _about_agent(self) -> dict[str, Any]:
        return {"agent_type": self._agent, "agent_id": self._session_id}

    async def before_compaction(self, focus: str, *, automatic: bool) -> HookAnswer:
        """The hooks' answer to a compaction, which they may block."""
        trigger = "auto" if automatic else "manual"
        return await self._ask(
            "PreCompact", 0, (trigger,), {"trigger": trigger, "custom_instructions": focus}
        )

    def note(self, event: Event) -> None:
        """Run the hooks for an event that they only watch."""
        match event:
            case TurnStarted():
                self.wants_end = None
                if event.attempt > 1:
                    self._watch(
                        "TurnRetried", event.turn, {"attempt": event.attempt, "kept_calls": event.recovering}
                    )
            case ApprovalRequested(question=question):
                self._notify(event.turn, "permission_prompt", question)
            case QuestionAsked(question=question):
                self._notify(event.turn, "elicitation_dialog", question)
            case TurnIncomplete(turn=turn):
                kept = {"reason": event.reason, "detail": event.detail, "attempt": event.attempt}
                kept |= {
                    "kept_calls": event.calls,
                    "trace_bytes": event.trace_bytes,
                    "seconds": event.seconds,
                }
                kept |= {"files_changed": list(event.turn_memory.files_changed)}
                self._watch("TurnIncomplete", turn, kept)
            case TurnAbandoned(turn=turn):
                files = list(event.turn_memory.files_changed)
                self._watch("TurnDiscarded", turn, {"trace_bytes": event.trace_bytes, "files_changed": files})
            case MessageTakenBack(turn=turn):
                self._watch("TurnDiscarded", turn, {"trace_bytes": 0, "files_changed": []})
            case _:
                pass

    def _notify(self, turn: int, kind: str, message: str) -> None:
        given = {"message": message, "title": "Keen TUI", "notification_type": kind}
        if self._runner.has("Notification", kind):
            self._background.add(_unheard(self._ask("Notification", turn, (kind,), given)))

    def _watch(self, point: HookPoint, turn: int, given: dict[str, Any]) -> None:
        if self._runner.has(point):
            self._background.add(_unheard(self._ask(point, turn, (), {"turn": turn, **given})))

    async def _about_call(
        self, point: HookPoint, turn: int, call: ToolCall, given: dict[str, Any]
    ) -> HookAnswer:
        usual = usual_call(call, self._workspace)
        about = {"tool_name": usual.name, "tool_input": usual.arguments, "tool_use_id": call.id}
        answer = await self._ask(point, turn, (usual.name, call.name), {**about, **given}, call=usual)
        if answer.arguments is None:
            return answer
        return replace(answer, arguments=own_arguments(call.name, answer.arguments))

    def _ask(
        self,
        point: HookPoint,
        turn: int,
        names: tuple[str, ...],
        given: dict[str, Any],
        *,
        call: UsualCall | None = None,
        most_seconds: float | None = None,
    ) -> Awaitable[HookAnswer]:
        """The answer of the hooks; what they are given is of this moment."""
        if not self._runner.has(point, *names, call=call):
            return _nobody()
        common = {
            "session_id": self._session_id,
            "transcript_path": self._transcript,
            "cwd": str(self._workspace),
            "permission_mode": _MODES[self._mode()],
            "hook_event_name": point,
        }
        asked = self._runner.run(
            point, names, {**common, **given}, turn, call=call, most_seconds=most_seconds
        )
        return self._heard(asked, turn)

    async def _heard(self, asked: Awaitable[HookAnswer], turn: int) -> HookAnswer:
        answer = await asked
        failures = [sentence for sentence in dict.fromkeys(answer.failures) if sentence not in self._told]
        self._told.update(failures)
        for sentence in (*answer.told, *failures):
            self._publish(Notice(turn=turn, text=sentence))
        if answer.ends is not None:
            self.wants_end = answer.ends
        return answer


class HookCommands(Struct, frozen=True):
    """Commands that run at events, and what runs them; None: none runs."""

    hooks: Sequence[Hook] = ()
    programs: Programs | None = None


NO_HOOKS: Final = HookCommands()


def session_hooks(
    commands: HookCommands,
    workspace: Path,
    publish: Callable[[Event], None],
    mode: Callable[[], Mode],
    agent: str = "",
) -> SessionHooks:
    """The hooks of a session, which may be that of the sub-agent `agent`."""
    background, programs = BackgroundJobs(), commands.programs
    runner = HookRunner(
        commands.hooks, programs, programs.folder if programs else workspace, publish, background
    )
    return SessionHooks(runner, workspace, publish, mode, background, agent)


async def _nobody() -> HookAnswer:
    return NO_ANSWER


async def _unheard(asked: Awaitable[HookAnswer]) -> None:
    await asked
