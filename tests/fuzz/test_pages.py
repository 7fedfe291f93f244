"""Pages that mean no good: whatever a server sends, it stays within its limits and its frame."""

from __future__ import annotations

import zlib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as any_of

from keen_tui.domain.errors import ToolFailure
from keen_tui.memory.rendering import fenced
from keen_tui.text.hosts import host_name
from keen_tui.text.sanitize import HIDDEN
from keen_tui.tools.web.content_type import ContentType
from keen_tui.tools.web.page_text import safe_text
from keen_tui.tools.web.to_markdown import converted
from keen_tui.tools.web.unpacking import Unpacked
from keen_tui.tools.web.web_address import LONGEST, web_address
from tests.fuzz.budget import examples

_MOST = 1_000
_TAGS = (
    "<div>", "</p>", "<pre>", "<table>", "<td>", "<a href=", "<!--", "<script>", "&#x1b;", "`````", "<li>",
)  # fmt: skip

_PLACES = ("a.org", "a.org:80", "u:p@a.org", "127.0.0.1", "[::1]", "a.org.", "1.1", "localhost")

texts = any_of.text(max_size=60)
urls = any_of.builds(
    "{}{}{}".format,
    any_of.sampled_from(("http://", "https://", "HTTPS://", "//", "", "file://", "http:\\\\")),
    any_of.sampled_from(
        ("a.org", "a.org:80", "u:p@a.org", "127.0.0.1", "[::1]", "a.org.", "1.1", "localhost")
    ),
    texts,
)
pieces = any_of.lists(any_of.one_of(any_of.sampled_from(_TAGS), texts), max_size=40)


@examples(200, 10_000)
@given(any_of.one_of(texts, urls))
def test_an_address_names_a_host_by_its_name_or_nothing(text: str) -> None:
    with suppress(ToolFailure):
        address = web_address(text)
        shown = str(address)
        assert shown.isascii() and shown.isprintable() and len(shown) < 4 * LONGEST
        assert not set(shown) & set(' \\"<>') and host_name(address.host.name) == address.host.name
        assert "@" not in shown.split("/")[2]
        assert web_address(shown) == address


@examples(200, 10_000)
@given(texts)
def test_a_redirect_leads_to_an_address_like_any_other_or_nowhere(location: str) -> None:
    here = web_address("https://a.org/b/c?d")
    with suppress(ToolFailure):
        assert web_address(str(here.redirected(location))) == here.redirected(location)


@examples(200, 10_000)
@given(any_of.sampled_from(("", "gzip", "deflate")), any_of.lists(any_of.binary(max_size=3_000), max_size=5))
def test_no_content_is_longer_than_the_limit(encoding: str, chunks: list[bytes]) -> None:
    for packed in (chunks, [zlib.compress(b"".join(chunks) * 50)]):
        unpacked = Unpacked(encoding, _MOST)
        with suppress(ToolFailure):
            for chunk in packed:
                unpacked.feed(chunk)
        assert len(unpacked.content) <= _MOST


@examples(200, 10_000)
@given(texts, any_of.binary(max_size=200))
def test_any_type_makes_text_or_says_that_it_is_none(header: str, content: bytes) -> None:
    said = ContentType.of(header)
    assert said.problem.isascii()
    text = said.text(content)
    assert text is None or "\0" not in text[:100]


@pytest.mark.filterwarnings("ignore::UserWarning")  # bs4 finds some of them odd, too
@examples(60, 3_000)
@given(pieces)
def test_no_page_leaves_its_frame(parts: list[str]) -> None:
    html = "".join(parts).encode("utf-8", "replace")
    found = converted(html, "utf-8")
    for text in (safe_text(found["text"]), safe_text("".join(parts))):
        assert not HIDDEN.search(text.replace("\t", " "))
        first, *inside, last = fenced(text).split("\n")
        assert set(first) == {"`"} and first == last
        assert all(first not in line for line in inside)
