"""The documentation holds together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.references import PAGES, ROOT

_LINK = re.compile(r"\]\((?!https?://)([^)#\s]*)#?([^)\s]*)\)")


def anchors(page: Path) -> Iterator[str]:
    """The headings of a page, as links name them."""
    for heading in re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for path, heading in _LINK.findall(page.read_text()):
        target = page.parent / path if path else page
        assert target.exists(), f"{path} is not there"
        assert not heading or heading in anchors(target), f"{path} has no heading #{heading}"


def test_the_index_of_the_guide_lists_every_page_once_and_says_what_it_answers() -> None:
    guide = ROOT / "docs" / "guide"
    _, *groups = re.split(r"^## ", (guide / "README.md").read_text(), flags=re.MULTILINE)
    assert [group.partition("\n")[0] for group in groups] == [
        "Every day",
        "Make it yours",
        "Automate and connect",
    ]
    listed = [
        page
        for group in groups
        for page in re.findall(r"^\| \[[^]]+\]\((.+?)\) \| .+ \|$", group, re.MULTILINE)
    ]
    assert sorted(listed) == sorted(page.name for page in guide.glob("*.md") if page.name != "README.md")
