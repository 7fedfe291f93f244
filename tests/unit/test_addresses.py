"""Addresses of model servers, as people type them."""

from __future__ import annotations

import pytest

from keen_tui.domain.errors import ConfigError
from keen_tui.providers.catalog.addresses import base_urls


@pytest.mark.parametrize(
    ("typed", "urls"),
    [
        ("http://gpu-box:8000/v1", ("http://gpu-box:8000/v1",)),
        (" http://gpu-box:8000/v1/ ", ("http://gpu-box:8000/v1",)),
        ("http://gpu-box:8000", ("http://gpu-box:8000", "http://gpu-box:8000/v1")),
        ("localhost:1234", ("http://localhost:1234", "http://localhost:1234/v1")),
        ("127.0.0.1:1234/v1", ("http://127.0.0.1:1234/v1",)),
        ("http://[::1]:8080/v1", ("http://[::1]:8080/v1",)),
        (
            "HTTPS://Models.Lab.Example/API",
            ("https://models.lab.example/API", "https://models.lab.example/API/v1"),
        ),
        ("https://models.lab.example/v1/chat/completions", ("https://models.lab.example/v1",)),
        ("https://models.lab.example/v1/models", ("https://models.lab.example/v1",)),
        ("https://models.lab.example/paas/v4", ("https://models.lab.example/paas/v4",)),
    ],
)
def test_an_address_stands_for_base_urls(typed: str, urls: tuple[str, ...]) -> None:
    assert base_urls(typed) == urls


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("", "for example"),
        ("gpu-box:8000", "must begin with https://"),
        ("ftp://gpu-box", "must begin with https://"),
        ("http://", "name a host"),
        ("http://[::1", "name a host"),
        ("http://gpu-box:99999", "port from 1 to 65535"),
        ("http://gpu box:8000", "a space"),
        ("http://gpu\u200bbox", "invisible"),
        ("http://me:secret@gpu-box", "a user name or a password"),
        ("https://gpu-box/v1?key=secret", "contains ?"),
        ("https://gpu-box/v1#top", "contains ?"),
    ],
)
def test_what_is_no_address_is_told_without_quoting_it(typed: str, why: str) -> None:
    with pytest.raises(ConfigError) as caught:
        base_urls(typed)
    assert why in str(caught.value) and "secret" not in str(caught.value)
