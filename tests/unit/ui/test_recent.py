"""The cache of drawn things."""

from __future__ import annotations

from keen_tui.frontends.tui.rows.lru_cache import Recent


def test_the_one_used_longest_ago_goes() -> None:
    recent: Recent[str, int] = Recent(2)
    recent.keep("a", 1)
    recent.keep("b", 2)
    assert recent.get("a") == 1
    recent.keep("c", 3)
    assert [recent.get(key) for key in "abc"] == [1, None, 3]


def test_another_thing_takes_the_place_of_the_one_before() -> None:
    recent: Recent[str, int] = Recent(2)
    recent.keep("a", 1)
    recent.keep("a", 2)
    assert recent.get("a") == 2
    recent.clear()
    assert recent.get("a") is None
