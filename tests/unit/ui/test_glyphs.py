"""The signs on the screen."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from keen_tui.frontends.tui.look.glyphs import ASCII, UNICODE, Glyphs

STATES = ("running", "done", "failed", "look", "asks", "stopped", "none", "to_do", "queued", "changed")


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
def test_each_state_has_a_sign_of_its_own(glyphs: Glyphs) -> None:
    signs = [getattr(glyphs, state) for state in STATES]
    assert len(set(signs)) == len(STATES)
    assert {cell_len(sign) for sign in signs if sign != ">>"} == {1}
