"""Decides which hosts a command may reach, each one once, and notes the outcome."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from msgspec import Struct

from keen_tui.system.time_limit import TimeLimit
from keen_tui.text.hosts import Host


class HostAnswer(Struct, frozen=True, kw_only=True):
    """Whether a host may be reached; if not, why, as the end of a sentence. `is_final`: a person or a rule
    refused, so running the command outside isn't offered."""

    allowed: bool
    reason: str = ""
    is_final: bool = False


Decide = Callable[[Sequence[Host]], Awaitable[HostAnswer]]
"""Decides whether these hosts may be reached. May wait for a person."""

Report = Callable[[str, str], None]
"""Called with each host that was connected to; the second text says why if it wasn't."""


async def _nobody(_: Sequence[Host]) -> HostAnswer:
    return HostAnswer(allowed=False, reason="there is nobody to ask about hosts here")


_MOST_HOSTS: Final = 200
"""The most hosts that one command may ask for: it may be trying random names."""


class HostGate:
    """Admits the connections of one command.

    `install` is an install in two words, and `wanted` are the registries that it names, which are decided
    before it runs. No host is admitted until `decides` is called. `limit` is the command's time limit, which
    stops while a person is asked.
    """

    def __init__(self, limit: TimeLimit, wanted: Sequence[Host] = (), install: str = "") -> None:
        self.password = secrets.token_hex(16)
        """The password of its proxy, needed if other commands could reach that proxy."""
        self.wanted = tuple(wanted)
        self.install = install
        self._limit = limit
        self._decide: Decide = _nobody
        self._report: Report = lambda host, problem: None
        self._answers: dict[Host, asyncio.Task[HostAnswer]] = {}
        self._noted: dict[tuple[str, str], None] = {}
        self.declined = False
        self.is_unattended = False
        """Whether nobody is asked about more hosts, because the command runs in the background."""

    def decides(self, decide: Decide, report: Report) -> None:
        """Set the functions that decide about hosts and report them."""
        self._decide, self._report = decide, report

    async def ask_before(self) -> None:
        """Decide about all wanted hosts at once."""
        if self.wanted:
            asking = asyncio.create_task(self._asked(self.wanted))
            self._answers = dict.fromkeys(self.wanted, asking)
            await self._waited(asking)

    async def admit(self, host: Host) -> str:
        """Why the host can't be reached, "" if it can. Connections to the same host share one answer."""
        if host not in self._answers:
            if len(self._answers) >= _MOST_HOSTS:
                return f"a command may ask for {_MOST_HOSTS} hosts, and this one asked for more"
            self._answers[host] = asyncio.create_task(self._asked((host,)))
        answer = await asyncio.shield(self._answers[host])
        return "" if answer.allowed else answer.reason

    def note(self, host: str, problem: str = "") -> None:
        """Note that a host was connected to, or why it wasn't."""
        if (host, problem) not in self._noted and len(self._noted) < _MOST_HOSTS:
            self._noted[host, problem] = None
            self._report(host, problem)

    @property
    def refused(self) -> tuple[str, ...]:
        """The hosts that couldn't be reached and why, as sentences without full stops."""
        return tuple(f"{host}: {problem}" for host, problem in self._noted if problem)

    async def close(self) -> None:
        """Withdraw open questions."""
        open_tasks = [task for task in set(self._answers.values()) if not task.done()]
        for task in open_tasks:
            task.cancel()
        if open_tasks:
            await asyncio.wait(open_tasks)

    async def _waited(self, asking: asyncio.Task[HostAnswer]) -> None:
        try:
            await asyncio.shield(asking)
        except asyncio.CancelledError:
            await self.close()
            raise

    async def _asked(self, hosts: Sequence[Host]) -> HostAnswer:
        with self._limit.standing():
            answer = await self._decide(hosts)
        self.declined = self.declined or answer.is_final
        return answer
