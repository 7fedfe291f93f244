"""A program that is killed anywhere loses nothing that it said to be saved (`make crash` runs many more)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from tests.campaigns.crash.campaign import Campaign, nursery
from tests.campaigns.crash.model import Model

CAMPAIGNS: dict[str, Callable[[Campaign], Awaitable[None]]] = {
    "journal at every write": lambda each: each.every_write("journal", turns=2),
    "session at some writes": lambda each: each.every_write("session", turns=6, every=19),
    "resumed session at some writes": lambda each: each.every_write("session", turns=2, every=19, died=30),
    "upkeep at random": lambda each: each.at_random("upkeep", deaths=20, turns=60, seconds=0.2),
    "session at random": lambda each: each.at_random("session", deaths=6, turns=8, seconds=0.6),
}


@pytest.fixture
async def campaign(tmp_path: Path) -> AsyncIterator[Campaign]:
    async with nursery() as place, Model() as model:
        yield Campaign(tmp_path / "campaign", place, model)


@pytest.mark.parametrize("deed", CAMPAIGNS.values(), ids=CAMPAIGNS)
async def test_a_killed_program_loses_nothing_and_its_session_goes_on(
    campaign: Campaign, deed: Callable[[Campaign], Awaitable[None]]
) -> None:
    await deed(campaign)
    assert not campaign.count.problems
    assert campaign.count.killed > 3
    assert campaign.count.saved > 0
