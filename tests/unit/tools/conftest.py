"""What several tests of tools use."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.jail import SANDBOXES, Jail


@pytest.fixture(params=SANDBOXES)
def jail(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Jail:
    """A jail in each sandbox, whose home is also that of git outside of it."""
    jail = Jail(request.param, tmp_path)
    monkeypatch.setenv("HOME", str(jail.home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return jail
