"""Which hosts one command may reach: each is decided once, and what became of it is noted."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from msgspec import Struct

from keen_tui.text.hosts import Host
from keen_tui.tools.process.time_limit import TimeLimit


class HostAnswer(Struct, frozen=True, kw_only=True):
    """Whether a host may be reached; if not, why, as the end of a sentence. `is_final`: a person or a rule
    said so, and running the command outside is no way around it."""

    allowed: bool
    reason: str = ""
    is_final: bool = False


Decide = Callable[[Sequence[Host]], Awaitable[HostAnswer]]
"""Says whether these hosts may be reached. May wait for a person."""

Report = Callable[[str, str], None]
"""Is told that a host was connected to, or in the second text why it was not."""


async def _nobody(_: Sequence[Host]) -> HostAnswer:
    return HostAnswer(allowed=False, reason="nobody can allow hosts here")


_MOST_HOSTS: Final = 200
"""Hosts that one command may ask for: one that tries names at random is not asked about any longer."""


class HostGate:
    """Admits the connections of one command.

    `install` names an install in two words, and `wanted` the registries that it names: they are decided about
    before it runs. Until `decides` says who decides, no host is admitted. `limit` is the command's time
    limit: it stands still while somebody is asked.
    """

    def __init__(self, limit: TimeLimit, wanted: Sequence[Host] = (), install: str = "") -> None:
        self.wanted = tuple(wanted)
        self.install = install
        self._limit = limit
        self._decide: Decide = _nobody
        self._report: Report = lambda host, problem: None
        self._answers: dict[Host, asyncio.Task[HostAnswer]] = {}
        self._noted: dict[tuple[str, str], None] = {}
        self.declined = False

    def decides(self, decide: Decide, report: Report) -> None:
        """From now on `decide` is asked, and `report` told."""
        self._decide, self._report = decide, report

    async def ask_before(self) -> None:
        """Decide about all that is wanted at once."""
        if self.wanted:
            asking = asyncio.create_task(self._asked(self.wanted))
            self._answers = dict.fromkeys(self.wanted, asking)
            await self._waited(asking)

    async def admit(self, host: Host) -> str:
        """Why the host can't be reached, "" where it can. Connections to one host wait for one answer."""
        if host not in self._answers:
            if len(self._answers) >= _MOST_HOSTS:
                return f"a command may ask for {_MOST_HOSTS} hosts, and this one asked for more"
            self._answers[host] = asyncio.create_task(self._asked((host,)))
        answer = await asyncio.shield(self._answers[host])
        return "" if answer.allowed else answer.reason

    def note(self, host: str, problem: str = "") -> None:
        """A host was connected to, or could not be."""
        if (host, problem) not in self._noted and len(self._noted) < _MOST_HOSTS:
            self._noted[host, problem] = None
            self._report(host, problem)

    @property
    def refused(self) -> tuple[str, ...]:
        """What could not be reached and why, as sentences without their stops."""
        return tuple(f"{host}: {problem}" for host, problem in self._noted if problem)

    async def close(self) -> None:
        """Withdraw what is still asked."""
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
