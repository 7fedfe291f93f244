"""A small program that turns HTML into Markdown: a page can make that slow, and must not hold up Keen.

HTML comes on standard input; the name of its codec, "" if unknown, is the argument. Out comes a JSON object
with `title` and `text`. It ends after a few seconds of work, also when nobody waits for it any more.
"""

from __future__ import annotations

import json
import resource
import sys
from contextlib import suppress
from typing import Final

from bs4 import BeautifulSoup, Tag
from markdownify import ATX, MarkdownConverter

_MOST_SECONDS: Final = 20
_MOST_MEMORY: Final = 2_000_000_000
_DEEPEST: Final = 5_000
"""Python calls inside one another, four or so for each level of the page."""

_NOT_TEXT: Final = (
    "script", "style", "template", "noscript", "svg", "canvas", "iframe", "object", "form", "button", "input",
    "select", "dialog",
)  # fmt: skip
_AROUND: Final = ("nav", "header", "footer", "aside")
_MAIN: Final = ("main", "[role=main]", "article", "#content", "#main", ".content", "body")
_MARKS: Final = ("", "¶", "#", "§", "\uf0c1")
_NOWHERE: Final = ("#", "javascript:", "data:")
_LEAST: Final = 200
"""Characters that the main part of a page has at least."""


def _language(block: Tag) -> str:
    """The language of a code block, as the common generators say it."""
    near = [block, *block.find_all("code", limit=1), *block.find_parents("div", limit=3)]
    for tag in near:
        for name in tag.get("class") or ():
            for beginning in ("language-", "lang-", "highlight-", "brush:"):
                found = name.removeprefix(beginning)
                if (
                    found != name
                    and found.isalnum()
                    and found not in ("default", "none", "notranslate", "text")
                ):
                    return str(found)
    return ""


def _main_part(page: BeautifulSoup) -> Tag:
    for selector in _MAIN:
        found = page.select_one(selector)
        if found and len(found.get_text(strip=True)) >= _LEAST:
            return found
    return page


def _without_extras(page: BeautifulSoup) -> None:
    for tag in page.find_all(_NOT_TEXT):
        tag.decompose()
    for numbers in page.select("td.linenos, .linenodiv, span.lineno, .gutter, [aria-hidden=true], [hidden]"):
        if not numbers.decomposed:
            numbers.decompose()


def _plain_links(page: BeautifulSoup, main: Tag) -> None:
    """Leave out the marks behind headings, links that lead nowhere else, and images but for their words."""
    for link in main.find_all("a"):
        if link.decomposed:  # with the link around it
            continue
        if "headerlink" in (link.get("class") or ()) or link.get_text(strip=True) in _MARKS:
            link.decompose()
        elif str(link.get("href") or "#").lower().startswith(_NOWHERE):
            link.unwrap()
    for image in main.find_all("img"):
        image.replace_with(page.new_string(str(image.get("alt") or "")))


def converted(html: bytes, codec: str) -> dict[str, str]:
    """The title and the text of a page."""
    page = BeautifulSoup(html, "html.parser", from_encoding=codec or None)
    title = page.title.get_text(" ", strip=True) if page.title else ""
    _without_extras(page)
    main = _main_part(page)
    for tag in main.find_all(_AROUND):
        if not tag.decomposed and not tag.find(("h1", "pre", "article")):
            tag.decompose()
    _plain_links(page, main)
    try:
        text = MarkdownConverter(
            heading_style=ATX,
            bullets="-",
            escape_asterisks=False,
            escape_underscores=False,
            code_language_callback=_language,
        ).convert_soup(main)
    except RecursionError:
        text = main.get_text("\n", strip=True)
    return {"title": title, "text": text}


def main() -> None:
    """Convert standard input."""
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CPU, (_MOST_SECONDS, _MOST_SECONDS))
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    sys.setrecursionlimit(_DEEPEST)
    found = converted(sys.stdin.buffer.read(), sys.argv[1] if sys.argv[1:] else "")
    sys.stdout.buffer.write(json.dumps(found).encode())


if __name__ == "__main__":
    main()
