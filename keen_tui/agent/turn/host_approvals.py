"""Decides which hosts sandboxed commands may reach: the user's rules do, or a person while the command
waits."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from keen_tui.agent.turn.audience import ApprovalReply
from keen_tui.domain.choices import Mode, Network
from keen_tui.domain.display import CommandDisplay
from keen_tui.domain.errors import NOBODY, NOBODY_IN_BACKGROUND
from keen_tui.domain.events import Event, HostContacted
from keen_tui.domain.messages import ToolCall
from keen_tui.text.hosts import USUAL_PORTS, Host, HostPattern
from keen_tui.tools.calls.tool import PreparedCall
from keen_tui.tools.network.gate import HostAnswer
from keen_tui.tools.permissions.allowances import Allowances
from keen_tui.tools.permissions.permissions import Grant, Verdict
from keen_tui.tools.rules.rules import Rules

NET = "net"
"""The grant kind for hosts."""


class _Asking(Struct, frozen=True, kw_only=True):
    """The call whose command wants to connect."""

    turn: int
    call: ToolCall
    target: str
    prepared: PreparedCall


Ask = Callable[[int, ToolCall, str, PreparedCall, Verdict], Awaitable[ApprovalReply]]
Remember = Callable[[int, ApprovalReply, Verdict], Awaitable[None]]


class HostApprovals:
    """Decides about hosts, one question at a time.

    Args:
        ask: asks a person and waits for the answer; `remember` keeps what it allows for good.
        publish: where HostContacted goes.
        mode: the permission mode of now.
        granted: what was allowed for the session, hosts among it.
        network: whether hosts that no rule is about are asked about, refused or allowed.
    """

    def __init__(
        self,
        ask: Ask,
        remember: Remember,
        publish: Callable[[Event], None],
        *,
        mode: Callable[[], Mode],
        granted: set[Grant],
        rules: Rules,
        allowances: Allowances | None,
        network: Network,
    ) -> None:
        self._ask = ask
        self._remember = remember
        self._publish = publish
        self._mode = mode
        self._granted = granted
        self._rules = rules
        self._allowances = allowances
        self._network = network
        self._turn_to_ask = asyncio.Lock()

    async def attend(self, turn: int, call: ToolCall, target: str, prepared: PreparedCall) -> None:
        """Decide about the hosts of this call from now on, and at once about those that it is known to
        need."""
        gate = prepared.network
        if gate is None:
            return
        shown = prepared.display
        if isinstance(shown, CommandDisplay):
            prepared = replace(prepared, display=replace(shown, parts=()))  # they are about files
        asking = _Asking(turn=turn, call=call, target=target, prepared=prepared)

        def report(host: str, problem: str) -> None:
            self._publish(HostContacted(turn=turn, id=call.id, host=host, problem=problem))

        gate.decides(partial(self._decide, asking), report)
        await gate.ask_before()

    async def _decide(self, asking: _Asking, hosts: Sequence[Host]) -> HostAnswer:
        async with self._turn_to_ask:
            if self._mode() == "plan":
                return HostAnswer(allowed=False, reason="plan mode has no network", is_final=True)
            for host in hosts:
                if rule := self._rules.about_host("deny", host):
                    return HostAnswer(allowed=False, reason=f"your rule {rule.text} denies it", is_final=True)
            unknown = [host for host in hosts if not self._is_allowed(host)]
            for host in unknown:
                if host.port not in USUAL_PORTS:
                    reason = f"only ports 80 and 443 are open; the rule net({host}) would allow it"
                    return HostAnswer(allowed=False, reason=reason)
            if not unknown:
                return HostAnswer(allowed=True)
            gate = asking.prepared.network
            if gate and gate.is_unattended and not set(hosts) <= set(gate.wanted):
                reason = f"{NOBODY_IN_BACKGROUND}; {_flags(unknown)}"
                return HostAnswer(allowed=False, reason=reason)
            return await self._asked(asking, unknown)

    def _is_allowed(self, host: Host) -> bool:
        if self._rules.about_host("ask", host):
            return False
        is_usual = self._network == "on" and host.port in USUAL_PORTS
        if is_usual or (NET, str(host)) in self._granted or self._rules.allow_host(host):
            return True
        return any(pattern.fits(host) for pattern in (self._allowances.hosts if self._allowances else ()))

    async def _asked(self, asking: _Asking, hosts: Sequence[Host]) -> HostAnswer:
        verdict = self._verdict(asking.prepared, hosts)
        reply = await self._ask(asking.turn, asking.call, asking.target, asking.prepared, verdict)
        if not reply.allowed:
            words = f" and says: {reply.message}" if reply.message else ""
            is_person = reply.by == "user"
            reason = f"the user doesn't allow it{words}" if is_person else reply.message
            return HostAnswer(allowed=False, reason=reason, is_final=is_person)
        if reply.scope == "session" and verdict.grant:
            self._granted.update((NET, str(host)) for host in hosts)
        await self._remember(asking.turn, reply, verdict)
        return HostAnswer(allowed=True)

    def _verdict(self, prepared: PreparedCall, hosts: Sequence[Host]) -> Verdict:
        names, gate = " and ".join(map(str, hosts)), prepared.network
        install = gate.install if gate else ""
        who = install or "this command"
        rule = next(filter(None, (self._rules.about_host("ask", host) for host in hosts)), None)
        if rule:
            why = f"your rule {rule.text} says so"
        elif gate and set(hosts) <= set(gate.wanted):
            why = f"{install} needs its registry, and the sandbox has no other way to the network"
        else:
            why = "you haven't allowed this host yet; the command waits for your answer"
        return Verdict(
            decision="ask",
            question=f"Let {who} reach {names}?",
            why=why,
            grant=None if rule else f"allow {names} for this session",
            hosts=() if rule else tuple(HostPattern(name=host.name) for host in hosts),
            nobody=f"{NOBODY}; {_flags(hosts)}",
        )


def _flags(hosts: Sequence[Host]) -> str:
    flags = " ".join(f"--allow-net {host}" for host in hosts)
    rules = ", ".join(f"net({host})" for host in hosts)
    return f"{flags} or the rule {rules} in your settings allows it"
