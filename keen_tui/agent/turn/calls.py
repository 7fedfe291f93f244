"""One tool call from start to result: check, ask, run. Whatever happens, it gets exactly one result."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from functools import partial

import msgspec
from msgspec.structs import replace

from keen_tui.agent.hooks.answers import NO_ANSWER, HookAnswer
from keen_tui.agent.turn.approvals import NOT_ASKED, ApprovalDecision
from keen_tui.agent.turn.new_file_approvals import undecided
from keen_tui.agent.turn.settle import Broken
from keen_tui.agent.turn.turn_hooks import denied_by_hook, with_answer
from keen_tui.agent.turn.turn_setup import TurnSetup
from keen_tui.domain.display import CommandDisplay
from keen_tui.domain.errors import NOBODY, STOPPED, ToolFailure
from keen_tui.domain.events import CallTried, Notice, ToolFinished, ToolOutput, ToolStarted
from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.domain.messages import ToolCall, ToolResult, UnknownCall
from keen_tui.domain.own_tools import own_tool
from keen_tui.system.threads import raise_if_cancelled, to_the_end
from keen_tui.tools.access.access import Access
from keen_tui.tools.calls.question_spec import QuestionSpec
from keen_tui.tools.calls.tool import AgentOrder, Outside, PreparedCall, Run, Trial
from keen_tui.tools.process.bounded_output import OutputSink
from keen_tui.tools.sandbox.trial import NOT_ENDED, tried
from keen_tui.tools.work_tree.watch import CommandChanges, CommandWatch

log = logging.getLogger(__name__)

OnResult = Callable[[ToolCall, ToolResult], None]

END_GRACE = 5.0
"""Seconds that an interrupted tool has to end; bash needs up to two to kill a stubborn group."""

TAIL_KEPT = 4_000
"""Characters of live output in the result of an interrupted call."""

NOT_RUN = ToolResult(
    text="not run: the turn was interrupted", summary="not run", is_error=True, interrupted=True, ran=False
)


NOT_BEGUN = replace(NOT_RUN, unfinished=True)
"""The result of a call that a retry begins: it stands behind an unfinished one."""


def skip_call(
    turn: int, step: int, call: ToolCall, setup: TurnSetup, result: ToolResult, on_result: OnResult
) -> None:
    """Report a call that didn't run because of an interrupt."""
    skipped = RunningCall(turn, step, call, setup)
    skipped.result = result
    skipped.start()
    skipped.finish(on_result)


class RunningCall:
    """A call and its state so far. Its methods are called in this order: `start`, `check`, `run`, `conclude`,
    `finish`. However the others end, `finish` comes last; without `run`, the result says "not run". `earlier`
    is its result if it is unfinished, and is gone on with."""

    def __init__(
        self, turn: int, step: int, call: ToolCall, setup: TurnSetup, earlier: ToolResult | None = None
    ) -> None:
        self.result = earlier or NOT_RUN
        self.broken: Broken | None = None
        """How the sub-agent of the call was broken off."""
        self.unknown_calls: tuple[UnknownCall, ...] = ()
        """The calls of that sub-agent whose effects nobody knows."""
        self.given = call
        self._turn = turn
        self._step = step
        self._call = call
        self._setup = setup
        self._target = setup.toolbox.target(call)
        self._prepared: PreparedCall | None = None
        self._started_at = setup.clock()
        self._seconds: float | None = None
        self._tail = ""
        self._said = NO_ANSWER

    def start(self) -> None:
        """Tell that the call begins."""
        call = self._call
        self._setup.publish(
            ToolStarted(
                turn=self._turn,
                step=self._step,
                id=call.id,
                name=call.name,
                arguments=call.arguments,
                target=self._target,
            )
        )

    async def check(self) -> None:
        """Ask the hooks, and check the call without touching anything. If that fails, it sets the result.
        Facts of an earlier attempt stay."""
        self._said = await self._setup.hooks.before_call(self._turn, self._call)
        if self._said.ruling == "deny":
            self.result = replace(denied_by_hook(self._said), facts=self.result.facts)
            return
        if self._said.arguments is not None:
            self._call = replace(self._call, arguments=self._said.arguments)
            self._target = self._setup.toolbox.target(self._call)
        try:
            self._prepared = await self._setup.toolbox.prepare(self._call)
        except Exception as error:
            self.result = replace(failed_result(error, ran=False), facts=self.result.facts)

    @property
    def asks_nobody(self) -> bool:
        """Whether a checked call runs, or has failed, without a question to the person."""
        prepared = self._prepared
        if prepared is None:
            return True
        return prepared.asks is None and self._setup.approvals.asks_nobody(prepared.access, self._said)

    async def run(self) -> None:
        """Do what the call says, after a yes where one is needed, and set the result. ToolFailure and bugs of
        a tool become error results."""
        prepared = self._prepared
        if prepared is None:
            return
        try:
            if prepared.asks:
                self.result = await self._answered(prepared.asks)
                return
            if prepared.order:
                await self._run_agent(prepared.order)
                return
            answer = await self._decide(prepared)
            if answer.tries and prepared.trial:
                await self._try_read_only(prepared, prepared.trial)
            elif answer.allowed:
                await self._run_for_good(prepared, answer)
            else:
                self.result = _denied(answer, answer.refusal)
        finally:
            self._seconds = self._setup.clock() - self._started_at

    async def conclude(self) -> None:
        """Add to the result what the model is to know besides: of plan mode, of instructions, of hooks."""
        if prepared := self._prepared:
            if not prepared.asks and self.result.ran:
                self._add(self._setup.approvals.plan_note(self._turn))
            await self._add_instructions(prepared.access)
        if self._said.ruling != "deny" and not self.result.unfinished:
            self._add_answer()
            await self._run_hooks_after()

    def finish(self, on_result: OnResult) -> None:
        """Report the result, and tell that the call has ended."""
        on_result(self.given, self.result)
        call = self._call
        now = self._setup.clock() - self._started_at
        self._setup.publish(
            ToolFinished(
                turn=self._turn,
                step=self._step,
                id=call.id,
                name=call.name,
                arguments=call.arguments,
                target=self._target,
                result=replace(self.result, images=()),
                seconds=now if self._seconds is None else self._seconds,
            )
        )

    async def _run_agent(self, order: AgentOrder) -> None:
        """Give the call to a sub-agent. If it is broken off, the call is unfinished."""
        self._started_at = self._setup.clock()
        agent = self._setup.agents.agent(self._turn, self.given, order, self.result)
        try:
            await self._setup.agents.run(self.given.id)
        finally:
            self.result, self.broken = agent.result, agent.broken
            self.unknown_calls = agent.unknown_calls

    def _add_answer(self) -> None:
        """Add to the result what hooks changed and said before the call."""
        if self._said.arguments is not None:
            changed = msgspec.json.encode(self._said.arguments).decode()
            self._add(f"\n[a hook changed the arguments to {changed}]")
        self.result = with_answer(self.result, HookAnswer(context=self._said.context))

    async def _run_hooks_after(self) -> None:
        """Run the hooks for a call that has run or failed, and note what they change."""
        hooks = self._setup.hooks
        if not (self.result.outcome in ("done", "failed") and hooks.follows(self._call)):
            return
        facts = len(self.result.facts)
        async with self._changes_noted():
            answer = await hooks.after_call(self._turn, self._call, self.result)
        added = self.result.facts[: len(self.result.facts) - facts]
        if changed := [fact.path for fact in added if isinstance(fact, FileChanged)]:
            self._add(f"\n[after this call a hook changed {', '.join(changed)}]")
        self.result = with_answer(self.result, answer)

    async def _add_instructions(self, access: Access) -> None:
        """Add the instructions for the folder of the file that was read or changed."""
        if access.kind not in ("read", "write") or not own_tool(self._call.name).takes_path:
            return
        if self.result.outcome != "done":
            return
        found = await self._setup.nested.with_file(access.path)
        for sentence in found.told:
            self._setup.publish(Notice(turn=self._turn, text=sentence))
        self._add(f"\n\n{found.text}" if found.text else "")
        self.result = replace(self.result, instructions=found.given)

    async def _decide(self, prepared: PreparedCall, not_enough: str = "") -> ApprovalDecision:
        approvals = self._setup.approvals
        return await approvals.decide(self._turn, self._call, self._target, prepared, not_enough, self._said)

    async def _try_read_only(self, prepared: PreparedCall, trial: Trial) -> None:
        """Run it where none of its effects last. If that isn't enough, or takes long, drop its output and,
        after a yes, run it from the beginning."""
        self._setup.publish(CallTried(turn=self._turn, id=self._call.id))
        run, answer = partial(self._execute, trial.run, changes_nothing=True), None
        if self._setup.approvals.asks_after_trial(prepared.access, self._said):
            ask = partial(self._decide, prepared, NOT_ENDED)
            answer = await tried(run, ask, lambda: not trial.reason(self.result))
        else:
            await run()
        not_enough = NOT_ENDED if answer else trial.reason(self.result)
        if not not_enough:
            return
        kept, self.result = self.result, NOT_RUN
        answer = answer or await self._decide(prepared, not_enough)
        if answer.allowed:
            await self._run_for_good(prepared, answer)
        elif answer.trial_stands:
            self.result = replace(kept, text=f"{kept.text}\n[{answer.refusal}]", facts=())
        else:
            text = f"{answer.refusal}\n[it ran read-only first, and {not_enough}]"
            self.result = _denied(answer, text)

    async def _run_for_good(self, prepared: PreparedCall, answer: ApprovalDecision) -> None:
        """Run it as allowed, and offer to run it outside if the sandbox stopped it."""
        if prepared.asking:
            prepared.asking.person = partial(self._setup.questions.ask, self._turn, self._call)
        await self._setup.approvals.hosts.attend(self._turn, self._call, self._target, prepared)
        tasks, access = self._setup.toolbox.tasks, prepared.access
        if access.kind in ("write", "command", "mcp", "function"):
            await tasks.check()
        try:
            await self._run_noted(prepared, answer)
        finally:
            if access.kind == "write":
                await asyncio.shield(tasks.accept((access.path,)))

    async def _run_noted(self, prepared: PreparedCall, answer: ApprovalDecision) -> None:
        async with self._changes_noted() if prepared.access.may_change_files else nullcontext():
            if answer.by_person:
                await self._execute(prepared.after_yes or prepared.run)
            else:
                await self._run_new_files_set_aside(prepared)
            if prepared.outside and (reason := prepared.outside.reason(self.result)):
                await self._offer_outside(prepared, prepared.outside, reason)

    @asynccontextmanager
    async def _changes_noted(self) -> AsyncIterator[None]:
        """Add to the result which files a command changes inside, however it ends (turn.md rule 12)."""
        watch = self._setup.toolbox.watch
        if watch is None:
            yield
            return
        await asyncio.to_thread(watch.begin)
        try:
            yield
        finally:
            await to_the_end(self._note_changes(watch))

    async def _note_changes(self, watch: CommandWatch) -> None:
        changes = await asyncio.to_thread(watch.end, keeps=True)
        self.result = with_changes(self.result, changes)
        if changes.notice:
            self._setup.publish(Notice(turn=self._turn, text=changes.notice))

    async def _run_new_files_set_aside(self, prepared: PreparedCall) -> None:
        """Run a call that nobody approved, and have a person decide about new files of it that would run
        code."""
        approvals, new = self._setup.approvals.new_files, prepared.new_files
        approvals.attend(prepared)
        said = ""
        try:
            await self._execute(prepared.run)
            said = await approvals.settle(self._turn, self._call, self._target, prepared)
            if new is not None and new.agreed:
                await self._setup.toolbox.tasks.accept(new.agreed)
        finally:
            if new is not None and new.names and not said:  # it was stopped
                approvals.report(self._turn, new)
                said = undecided(new)
            for note in filter(None, (said, new.problem if new is not None else "")):
                self._add(f"\n[{note}]")

    def _add(self, note: str) -> None:
        if note:
            self.result = replace(self.result, text=f"{self.result.text}{note}")

    async def _answered(self, asked: QuestionSpec) -> ToolResult:
        """The result of a call that is a question; the answer may change the permission mode."""
        setup = self._setup
        if asked.only_in not in (None, setup.approvals.mode):
            return failed_result(ToolFailure(asked.elsewhere), ran=False)
        reply = await setup.questions.ask(self._turn, self._call, asked)
        if mode := asked.modes.get(reply.choice):
            setup.approvals.change_mode(mode)
        return asked.result(reply)

    async def _offer_outside(self, prepared: PreparedCall, outside: Outside, reason: str) -> None:
        """Run it again outside its sandbox, if the user agrees. The result is that of the last run; the model
        is told of both."""
        inside = self.result
        approvals = self._setup.approvals
        answer = await approvals.decide_outside(self._turn, self._call, self._target, prepared, reason)
        if not answer.allowed:
            is_news = answer.refusal == NOT_ASKED and NOBODY not in reason  # else it was refused already
            left = (*inside.left_behind, *([reason] if is_news else []))
            text = f"{inside.text}\n[{reason}; {answer.refusal}]"
            self.result = replace(inside, text=text, left_behind=left)
            return
        try:
            await self._execute(outside.run)
        finally:
            note = (
                f"[in the sandbox: exit code {inside.exit_code}; run again outside with the user's approval]"
            )
            self.result = replace(self.result, text=f"{note}\n{self.result.text}", outside=True)

    async def _execute(self, run: Run, *, changes_nothing: bool = False) -> None:
        """Run the tool in a task of its own, so that an interrupt can wait for a write to finish.
        `changes_nothing`: no effect of it lasts."""
        raise_if_cancelled()
        self._started_at, self._tail = self._setup.clock(), ""
        task = asyncio.create_task(_outcome(run, self._on_output))
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            task.cancel()
            await to_the_end(asyncio.wait({task}, timeout=END_GRACE))
            ended_anyway = task.done() and not task.cancelled()
            self.result = task.result() if ended_anyway else self._interrupted(changes_nothing)
            raise
        self.result = task.result()

    def _on_output(self, text: str, lines: int, size: int) -> None:
        self._tail = (self._tail + text)[-TAIL_KEPT:]
        self._setup.publish(ToolOutput(turn=self._turn, id=self._call.id, text=text, lines=lines, bytes=size))

    def _interrupted(self, changes_nothing: bool) -> ToolResult:
        touches_nothing = self._prepared is not None and self._prepared.access.kind == "nothing"
        reads_only = changes_nothing or touches_nothing or own_tool(self._call.name).reads
        effects = "it changed nothing" if reads_only else "effects unknown"
        output = self._tail.strip() or "(none)"
        by_user = self._setup.why_stopped() == STOPPED
        how, summary = ("by the user", "stopped") if by_user else ("as the program ended", "program ended")
        text = f"interrupted {how}, {effects}; output so far: {output}"
        return ToolResult(text=text, summary=summary, is_error=True, interrupted=True, read_only=reads_only)


def with_changes(result: ToolResult, changes: CommandChanges) -> ToolResult:
    """The result of a command, with the files that it changed."""
    display = result.display
    if isinstance(display, CommandDisplay):
        display = replace(display, changed=changes.shown, more_changed=changes.more)
    return replace(result, facts=(*changes.facts, *result.facts), display=display)


def _denied(answer: ApprovalDecision, text: str) -> ToolResult:
    return ToolResult(text=text, summary=answer.refused, is_error=True, denied=True, ran=False)


async def _outcome(run: Run, on_output: OutputSink) -> ToolResult:
    try:
        return await run(on_output)
    except Exception as error:
        return failed_result(error, ran=True)


def failed_result(error: Exception, *, ran: bool) -> ToolResult:
    """The result of a failed call: a ToolFailure says why, anything else is a bug."""
    if isinstance(error, ToolFailure):
        return ToolResult(text=f"Error: {error}", summary="failed", is_error=True, ran=ran)
    log.error("a tool failed unexpectedly", exc_info=error)
    text = f"Error: the tool failed unexpectedly ({type(error).__name__}: {error})."
    return ToolResult(text=text, summary="failed", is_error=True, ran=ran)
