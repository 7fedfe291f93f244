"""The core can be imported without a screen library and without an SDK."""

from __future__ import annotations

from tests.support.clean_core import CORE, heavy_modules


def test_the_core_needs_no_screen_and_no_sdk() -> None:
    assert heavy_modules(*CORE) == []


def test_the_probe_notices() -> None:
    assert heavy_modules("rich.text") == ["rich"]
