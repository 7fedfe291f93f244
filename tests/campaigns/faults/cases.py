"""All cases of the campaign: which fault, where in the standard session, on which API."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Final, Literal

from msgspec import Struct

from keen_tui.domain.choices import Api
from keen_tui.providers.registry import APIS
from tests.campaigns.faults.outside import OUTSIDE, Outside
from tests.campaigns.faults.story import BEFORE_A_BYTE, IN_THE_STREAM, STEPS, events_of

Family = Literal["answer", "stream", "refused", "user", "death", "disk"] | Outside


class Case(Struct, frozen=True):
    """One fault. `step` is the request that it hits, from 0; `place` the event of the stream that it stands
    behind, or a point in the session; `fault` what happens there."""

    family: Family
    api: Api
    fault: str
    step: int = 0
    place: int | str = ""

    @property
    def name(self) -> str:
        """What `--only` takes."""
        return f"{self.family}/{self.api}/{self.fault}/{self.step + 1}/{self.place}".rstrip("/")

    @property
    def drops_calls(self) -> bool:
        """Whether an error comes behind the stop reason of the reply, so that none of its calls may run."""
        if (self.family, self.api, self.fault) != ("stream", "openai-chat", "error"):
            return False
        kinds = [event.kind for event in events_of(self.api, self.step)]
        return isinstance(self.place, int) and kinds.index("terminal") < self.place


POINTS: Final = ("connecting", "text", "arguments", "command", "approval", "idle")
"""Where a user or a signal strikes: before the first byte, in text, in a call's arguments, while a command
runs, while a question is open, between two turns."""
STOPS: Final = ("esc", "ctrl+c")
DEATHS: Final = ("kill", "term", "hup", "closed")
"""SIGKILL, SIGTERM, SIGHUP, and a terminal that is gone."""
DISKS: Final = ("full at 1 KB", "full at 4 KB", "full at 8 KB", "no home")


def all_cases() -> list[Case]:
    """Every case, in a fixed order."""
    return [*(case for api in APIS for case in _cases(api)), *_outside()]


def _outside() -> Iterator[Case]:
    """Each on one API, in turn: what they do is the same on all."""
    named = [(family, fault) for family, faults in OUTSIDE.items() for fault in faults]
    for (family, fault), api in zip(named, cycle(APIS), strict=False):
        yield Case(family, api, fault)


def _cases(api: Api) -> Iterator[Case]:
    for step in range(len(STEPS)):
        for fault in BEFORE_A_BYTE:
            yield Case("answer", api, fault, step)
        for place in range(len(events_of(api, step))):
            for fault in IN_THE_STREAM:
                yield Case("stream", api, fault, step, place)
    yield Case("refused", api, "connection refused")
    for point in POINTS:
        if point != "idle":
            for stop in STOPS:
                yield Case("user", api, stop, place=point)
        for death in DEATHS:
            yield Case("death", api, death, place=point)
    for disk in DISKS:
        yield Case("disk", api, disk)


def sample(cases: Sequence[Case], *, seed: int = 1) -> list[Case]:
    """A few of each kind: every fault in the stream on every API, every point of a stop and of a death."""
    choose = random.Random(seed)
    groups: dict[tuple[object, ...], list[Case]] = {}
    for case in cases:
        by_point = case.family in ("user", "death", "disk", "answer")
        key = (case.family, case.fault, "" if by_point else case.api, case.place if by_point else "")
        groups.setdefault(key, []).append(case)
    return [choose.choice(group) for group in groups.values()]
