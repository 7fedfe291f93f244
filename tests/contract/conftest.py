"""What is written once and holds on every API."""

from __future__ import annotations

from functools import partial

import pytest

from keen_tui.domain.choices import Api, PolicyName
from keen_tui.domain.reports import POLICIES
from keen_tui.providers.registry import APIS
from tests.support import agent


@pytest.fixture(params=APIS)
def at_work(request: pytest.FixtureRequest) -> agent.AtWork:
    """A session at work against the scripted server, once for each API."""
    return partial(agent.at_work, api=request.param)


@pytest.fixture(params=APIS)
def api(request: pytest.FixtureRequest) -> Api:
    """Each API."""
    name: Api = request.param
    return name


@pytest.fixture(params=POLICIES)
def policy(request: pytest.FixtureRequest) -> PolicyName:
    """Each memory policy."""
    name: PolicyName = request.param
    return name
