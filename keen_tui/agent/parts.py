"""What every turn of a session works with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from keen_tui.agent.approvals import Approvals
from keen_tui.agent.retries import RetryPolicy
from keen_tui.events import Event
from keen_tui.models import Price
from keen_tui.providers.base import Provider
from keen_tui.tools.toolbox import Toolbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """The parts of an agent. `price` is what the model costs, None when that is not known; `clock` gives
    seconds and never goes back."""

    provider: Provider
    price: Price | None
    toolbox: Toolbox
    approvals: Approvals
    system: str
    publish: Callable[[Event], None]
    clock: Callable[[], float]
    max_steps: int
    retries: RetryPolicy
