"""What holds for all tests."""

from __future__ import annotations

import os
import random
import signal
import sys
from collections.abc import Iterator
from itertools import groupby

import pytest
from hypothesis import HealthCheck, settings

from tests.support.processes import processes_in
from tests.support.waiting import wait_until

collect_ignore = ["bench", "campaigns"]
"""Programs with make targets of their own."""

_TIME_AND_SIZE = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--shuffle",
        type=int,
        metavar="SEED",
        help="run the files, and the tests in each, in an order that this number decides",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Properties are tried on the same examples every time, except in long and in shuffled runs.

    No example has a limit in time: on a loaded machine such a limit says nothing about the program. Signals
    that whoever began the tests ignores, as nohup does, aren't ignored by the programs that are tested.
    """
    for number in (signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    settings.register_profile(
        "keen",
        deadline=None,
        derandomize="KEEN_LONG_TESTS" not in os.environ and config.getoption("shuffle") is None,
        database=None,
        print_blob=True,
        suppress_health_check=[*_TIME_AND_SIZE, HealthCheck.function_scoped_fixture],
    )
    settings.load_profile("keen")
    _compile_once()


def _compile_once() -> None:
    """The tests start the program more than a thousand times, so Python keeps what it compiles, even if the
    environment forbids that."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seed = config.getoption("shuffle")
    if seed is not None:
        items[:] = _shuffled(items, random.Random(seed))


def _shuffled(items: list[pytest.Item], chance: random.Random) -> Iterator[pytest.Item]:
    """The files in any order and the tests of each in any order; a file's tests stay together."""
    files = [list(tests) for _, tests in groupby(items, key=lambda item: item.path)]
    chance.shuffle(files)
    for tests in files:
        chance.shuffle(tests)
        yield from tests


@pytest.fixture(autouse=True)
def no_desktop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests leave the clipboard of whoever runs them alone."""
    for variable in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture(autouse=True, scope="session")
def nothing_left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test leaves a process running in its folder."""
    yield
    folder = tmp_path_factory.getbasetemp()
    wait_until(lambda: not list(processes_in(folder)), says=lambda: str(list(processes_in(folder))))
