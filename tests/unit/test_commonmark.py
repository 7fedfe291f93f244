"""An exported page shows the examples of the CommonMark spec as the spec says.

Two pages are equal if they have the same structure and the same text. What an export changes on purpose is
changed in the page of the spec as well: all headings have one level, images are links, and only links to the
web have an address.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

from keen_tui.export.html_markdown import html_of
from keen_tui.text.highlighting import safe_code
from keen_tui.text.markdown import every, parse
from tests.fuzz.corpora import COMMONMARK, COMMONMARK_HTML

PAIRS = tuple(zip(COMMONMARK, COMMONMARK_HTML, strict=True))
SPACES_OF_BLOCKS = re.compile(r" ?(</?(?:p|ul|ol\d*|li|blockquote|h3|hr|pre|br)>) ?")


class Page(HTMLParser):
    """A page as tags and text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self._parts: list[str] = []
        self._in_code = False
        self._link_ends: list[str] = []
        self.feed(html)
        self.close()

    def __str__(self) -> str:
        return SPACES_OF_BLOCKS.sub(r"\1", "".join(self._parts))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._in_code = self._in_code or tag == "pre"
        match tag:
            case "a":
                self._begin_link(given.get("href", ""))
            case "img":
                self._begin_link(given["src"])
                self.handle_data(given["alt"] or "image")
                self.handle_endtag("a")
            case "span":  # a colour
                pass
            case _:
                self._parts.append(f"<{one_level(tag)}{given.get('start', '')}>")

    def handle_endtag(self, tag: str) -> None:
        self._in_code = self._in_code and tag != "pre"
        if tag == "a":
            self._parts.append(self._link_ends.pop())
        elif tag != "span":
            self._parts.append(f"</{one_level(tag)}>")

    def handle_data(self, data: str) -> None:
        self._parts.append(safe_code(data) if self._in_code else re.sub(r"\s+", " ", data))

    def _begin_link(self, address: str) -> None:
        is_web = address.lower().startswith(("http://", "https://"))
        self._parts.append(f"<a {address}>" if is_web else "")
        self._link_ends.append("</a>" if is_web else "")


def one_level(tag: str) -> str:
    return re.sub(r"^h\d$", "h3", tag)


def page(html: str, *, emphasis: bool) -> str:
    shown = str(Page(html))
    return shown if emphasis else re.sub("</?(?:em|strong)>", "", shown)


def is_shown_as_specified(markdown: str, html: str) -> bool:
    emphasis = "<img" not in html  # the spec leaves it out of the descriptions of images
    specified = html.replace("\n</code></pre>", "</code></pre>")  # the end of the last line
    return page(html_of(markdown), emphasis=emphasis) == page(specified, emphasis=emphasis)


def html_in(markdown: str) -> list[str]:
    """The pieces of HTML in Markdown, with all white space as one space."""
    pieces = (text for block in every(parse(markdown)) for kind, text in block.inline if kind == "html")
    return [" ".join(text.split()) for text in pieces]


def test_the_examples_of_the_spec_are_shown_as_specified() -> None:
    plain = [(markdown, html) for markdown, html in PAIRS if not html_in(markdown)]
    assert len(plain) == 580
    assert [markdown for markdown, html in plain if not is_shown_as_specified(markdown, html)] == []


def test_html_in_the_examples_is_text_as_it_was_written() -> None:
    for markdown, html in PAIRS:
        assert all(piece in " ".join(html.split()) for piece in html_in(markdown))
