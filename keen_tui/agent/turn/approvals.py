"""Decides whether a prepared call may run: the permission mode does, or a person, by the call's id."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from keen_tui.agent.hooks.answers import NO_ANSWER, HookAnswer, denial
from keen_tui.agent.turn.audience import PERSON, ApprovalReply, Audience
from keen_tui.agent.turn.host_approvals import NET, HostApprovals
from keen_tui.agent.turn.new_file_approvals import MADE, NewFileApprovals
from keen_tui.domain.choices import Mode, Network, Scope
from keen_tui.domain.errors import NOBODY, ConfigError, SessionRefused
from keen_tui.domain.events import ApprovalAnswered, ApprovalRequested, Event, ModeChanged, Notice
from keen_tui.domain.messages import ToolCall
from keen_tui.domain.permitted import Permitted
from keen_tui.text.units import first_line
from keen_tui.tools.access.access import Access
from keen_tui.tools.calls.tool import PreparedCall
from keen_tui.tools.permissions.allowances import Allowances
from keen_tui.tools.permissions.permissions import Allowed, Grant, Verdict, asked_by_hook, is_risky, judge
from keen_tui.tools.rules.rules import NO_RULES, Rules
from keen_tui.tools.shell.patterns import CommandPattern

_PLAN_NOTE = (
    "\n[plan mode is on: you can only read, and commands run read-only. If the task needs changes, "
    "propose a plan with propose_plan; if it only needs an answer, give it.]"
)


NOT_ASKED = "there was nobody to ask about running it outside"


class ApprovalDecision(Struct, frozen=True, kw_only=True):
    """Yes or no; for a no also the text that the model reads, and a few words for a person (`refused`).

    `by_person`: a person approved this call. `tries`: the answer depends on a read-only run. `trial_stands`:
    the result of that run counts.
    """

    allowed: bool
    by_person: bool = False
    tries: bool = False
    trial_stands: bool = False
    refusal: str = ""
    refused: str = "denied"


class Grants(Struct):
    """The user's permissions for this session: kinds of calls, and beginnings of commands. A session shares
    them with its sub-agents, except those that work in another folder."""

    kinds: set[Grant] = field(default_factory=set)
    commands: tuple[CommandPattern, ...] = ()

    def apart(self) -> Grants:
        """The same for another folder: what is allowed there from now on doesn't hold here."""
        return Grants(kinds=set(self.kinds), commands=self.commands)

    def forget(self) -> None:
        """Forget all of it."""
        self.kinds.clear()
        self.commands = ()


class Permissions(Struct, frozen=True, kw_only=True):
    """The permissions of a session, and who is asked about the rest. `mode` is the permission mode at its
    start, `audience` who answers. `rules` are what the user's settings allow, ask about and deny,
    `allowances` the commands and hosts that are always allowed; None: none are, and none can be. `network`
    decides about hosts that no rule names."""

    mode: Mode = "ask"
    audience: Audience = PERSON
    rules: Rules = NO_RULES
    allowances: Allowances | None = None
    network: Network = "ask"


ASKS_PERSON: Final = Permissions()


class Approvals:
    """Asks, waits for the answer, and remembers what was allowed for the session.

    Args:
        publish: where ApprovalRequested and ApprovalAnswered go.
        permissions: what the session may do, and who answers.
        waiting: entered while a person is asked.
        workspace: of the session; where its allowances are those of another folder, the question says so.
        hooks: asks the hooks before a person.
        grants: what was allowed for the session so far; None: nothing.

    `hosts` decides about the hosts that commands reach, `new_files` about files that they make.
    """

    def __init__(
        self,
        publish: Callable[[Event], None],
        permissions: Permissions,
        *,
        waiting: Callable[[], AbstractAsyncContextManager[None]] = nullcontext,
        workspace: Path | None = None,
        hooks: Callable[[int, ToolCall], Awaitable[HookAnswer]] | None = None,
        grants: Grants | None = None,
    ) -> None:
        allowances = permissions.allowances
        self.mode: Mode = permissions.mode
        self.grants = grants or Grants()
        self._hooks = hooks
        self._publish = publish
        self._audience = permissions.audience
        self._waiting = waiting
        self._rules = permissions.rules
        self._allowances = allowances
        self._saves_for_project = bool(allowances and workspace and allowances.workspace != workspace)
        self._told_of_plan = 0
        self._open: dict[str, asyncio.Future[ApprovalReply]] = {}
        self.hosts = HostApprovals(
            self._ask,
            self._remember,
            publish,
            mode=lambda: self.mode,
            granted=self.grants.kinds,
            rules=permissions.rules,
            allowances=allowances,
            network=permissions.network,
        )
        self.new_files = NewFileApprovals(
            self._ask, self._remember, publish, mode=lambda: self.mode, granted=self.grants.kinds
        )

    def change_mode(self, mode: Mode) -> None:
        """Use another mode from the next call on."""
        self.mode = mode
        self._publish(ModeChanged(mode=mode))

    def plan_note(self, turn: int) -> str:
        """The note about plan mode after a tool result, once per turn; "" if there is nothing to say.

        It can't be in the system prompt: that would change with the mode, and no prompt cache would match.
        """
        if self.mode != "plan" or turn == self._told_of_plan:
            return ""
        self._told_of_plan = turn
        return _PLAN_NOTE

    def asks_nobody(self, access: Access, said: HookAnswer) -> bool:
        """Whether a call with this access, and this answer of hooks to it, is allowed or refused at once."""
        return self._verdict(access, said).decision in ("allow", "refuse")

    def asks_after_trial(self, access: Access, said: HookAnswer) -> bool:
        """Whether a person is asked about a call if its read-only run isn't enough."""
        return self._verdict(access, said).after_trial("").decision == "ask"

    def _verdict(self, access: Access, said: HookAnswer) -> Verdict:
        verdict = judge(self.mode, access, self._allowed)
        if said.ruling == "ask" and verdict.decision in ("allow", "try"):
            return asked_by_hook(access, said.why)
        if said.ruling == "allow" and verdict.may_be_waived:
            return replace(verdict, decision="allow")
        return verdict

    async def decide(
        self,
        turn: int,
        call: ToolCall,
        target: str,
        prepared: PreparedCall,
        not_enough: str = "",
        said: HookAnswer = NO_ANSWER,
    ) -> ApprovalDecision:
        """Whether the call may run. Waits for a person if the mode says so. `not_enough` says why the call
        has to run again after its read-only run, `said` is the answer of hooks to the call."""
        verdict = self._verdict(prepared.access, said)
        if verdict.decision == "try" and not not_enough:
            return ApprovalDecision(allowed=False, tries=True)
        if verdict.decision == "try":
            verdict = verdict.after_trial(not_enough)
        if verdict.decision == "allow":
            return ApprovalDecision(allowed=True)
        if verdict.decision == "refuse":
            return ApprovalDecision(
                allowed=False,
                refusal=verdict.refusal,
                refused=verdict.refused,
                trial_stands=not_enough != "",
            )
        if answered := await self._answered_by_hooks(turn, call, verdict):
            return answered
        if prepared.goes_on:
            verdict = replace(verdict, question="Run this command in the background?")
        reply = await self._ask(turn, call, target, prepared, verdict)
        if reply.allowed:
            await self._remember(turn, reply, verdict)
            return ApprovalDecision(allowed=True, by_person=True)
        return ApprovalDecision(allowed=False, refusal=_refusal(reply), refused=_in_short(reply))

    async def _answered_by_hooks(
        self, turn: int, call: ToolCall, verdict: Verdict
    ) -> ApprovalDecision | None:
        """The decision if hooks answer in place of the person. A yes counts where the call doesn't always
        ask, and only for the call as it is."""
        said = await self._hooks(turn, call) if self._hooks else NO_ANSWER
        if said.ruling == "deny":
            return ApprovalDecision(allowed=False, refusal=denial(said), refused="denied by a hook")
        if said.ruling == "allow" and said.arguments is None and verdict.may_be_waived:
            return ApprovalDecision(allowed=True)
        return None

    async def decide_outside(
        self, turn: int, call: ToolCall, target: str, prepared: PreparedCall, reason: str
    ) -> ApprovalDecision:
        """Whether a call that failed in its sandbox may run again outside it. A person always decides, in
        every mode and whatever was allowed before."""
        if not self._audience.approves or self.mode == "plan":
            return ApprovalDecision(allowed=False, refusal=NOT_ASKED)
        verdict = Verdict(
            decision="ask",
            question="Run it again, outside the sandbox?",
            why=reason,
            is_risky=is_risky(prepared.access),
        )
        reply = await self._ask(turn, call, target, prepared, verdict)
        said = f" and says: {reply.message}" if reply.message else ""
        return ApprovalDecision(
            allowed=reply.allowed, refusal=f"the user doesn't want to run it outside{said}"
        )

    @property
    def _allowed(self) -> Allowed:
        saved = self._allowances.commands if self._allowances else ()
        return Allowed(
            rules=self._rules,
            granted=self.grants.kinds,
            saved=(*saved, *self.grants.commands),
            saved_web=self._allowances.web if self._allowances else (),
        )

    async def _remember(self, turn: int, reply: ApprovalReply, verdict: Verdict) -> None:
        """Store what a yes allows beyond this call."""
        if reply.scope == "session" and verdict.grant and verdict.grant_key:
            self.grants.kinds.add(verdict.grant_key)
            if verdict.by_prefix:
                self.grants.commands = tuple(dict.fromkeys((*self.grants.commands, *verdict.saves)))
        if reply.scope == "workspace" and verdict.for_good and self._allowances:
            try:
                await asyncio.to_thread(self._allowances.add, verdict.for_good)
            except ConfigError as error:
                self._publish(Notice(turn=turn, text=str(error)))

    def answer(self, call_id: str, *, allow: bool, scope: Scope = "once", message: str = "") -> None:
        """Answer the open approval of that call.

        Raises:
            SessionRefused: no approval of that id is open (any more).
        """
        waiting = self._open.get(call_id)
        if waiting is None or waiting.done():
            raise SessionRefused("That question is no longer open.")
        waiting.set_result(ApprovalReply(allowed=allow, scope=scope, message=message.strip(), by="user"))

    @property
    def permitted(self) -> Permitted:
        """The permissions apart from the mode: rules, and answers for this session and this folder."""
        saved = self._allowances.all if self._allowances else ()
        return Permitted(
            rules=tuple(f"{rule.ruling} {rule.text}" for rule in self._rules),
            session=tuple(
                dict.fromkeys((*map(_in_words, sorted(self.grants.kinds)), *map(str, self.grants.commands)))
            ),
            saved=tuple(map(str, saved)),
        )

    async def take_back(self, command: str) -> None:
        """Revoke the permanent permission of a command, or of a host as `net(HOST)`.

        Raises:
            SessionRefused: it is not allowed.
            ConfigError: that can't be kept; it holds until the program ends.
        """
        saved = self._allowances.all if self._allowances else ()
        pattern = next((each for each in saved if str(each) == command), None)
        if pattern is None or self._allowances is None:
            raise SessionRefused(f"{command} isn't allowed permanently here.")
        await asyncio.to_thread(self._allowances.remove, pattern)

    def forget_grants(self) -> None:
        """Forget what was allowed for the session, since another one begins."""
        self.grants.forget()
        self._told_of_plan = 0

    async def _ask(
        self, turn: int, call: ToolCall, target: str, prepared: PreparedCall, verdict: Verdict
    ) -> ApprovalReply:
        async with self._waiting():
            return await self._reply(turn, call, target, prepared, verdict)

    async def _reply(
        self, turn: int, call: ToolCall, target: str, prepared: PreparedCall, verdict: Verdict
    ) -> ApprovalReply:
        waiting: asyncio.Future[ApprovalReply] = asyncio.get_running_loop().create_future()
        self._open[call.id] = waiting
        saves = tuple(map(str, verdict.for_good)) if self._allowances else ()
        self._publish(
            ApprovalRequested(
                turn=turn,
                id=call.id,
                name=call.name,
                arguments=call.arguments,
                target=target,
                question=verdict.question,
                why=verdict.why,
                display=prepared.display,
                grant=verdict.grant,
                saves=saves,
                saves_for_project=self._saves_for_project,
                is_risky=verdict.is_risky,
            )
        )
        if not self._audience.approves:
            message = self._audience.nobody or verdict.nobody or _nobody_there(prepared.access)
            waiting.set_result(ApprovalReply(allowed=False, scope="once", message=message, by="headless"))
        try:
            reply = await waiting
        except asyncio.CancelledError:
            self._publish(
                ApprovalAnswered(
                    turn=turn, id=call.id, allowed=False, for_session=False, message="", by="stop"
                )
            )
            raise
        finally:
            del self._open[call.id]
        self._publish(
            ApprovalAnswered(
                turn=turn,
                id=call.id,
                allowed=reply.allowed,
                for_session=reply.scope == "session",
                message=reply.message,
                by=reply.by,
                saved=saves if reply.scope == "workspace" else (),
            )
        )
        return reply


def _in_words(grant: Grant) -> str:
    kind, subject = grant
    if kind == "command":
        return subject
    if kind in (NET, "web"):
        return f"{kind}({subject})"
    if kind == MADE:
        return f"{subject} that commands create"
    if kind == "unheld":
        return "all commands, without a sandbox"
    if kind in ("mcp", "function"):
        return subject
    return "all edits in this workspace" if subject == "workspace" else f"{kind} {subject}"


def _nobody_there(access: Access) -> str:
    flag = "--mode auto-edit" if access.kind == "write" and access.inside else "--mode auto"
    return f"{NOBODY}; {flag} allows it"


def _in_short(reply: ApprovalReply) -> str:
    """A no in a few words for the person, with what they said."""
    return f"denied: {first_line(reply.message)}" if reply.by == "user" and reply.message else "denied"


def _refusal(reply: ApprovalReply) -> str:
    if reply.by == "headless":
        return f"Denied: {reply.message}. Continue without it, or tell the user what you would have done."
    if reply.message:
        return f"The user denied this call and says: {reply.message}"
    return (
        "The user denied this call. Don't try it again unless they ask for it. "
        "Find another way, or ask what they want."
    )
