"""Whatever docs, docstrings and comments refer to is there.

A module may be named by the end of its path (`agent/turn/settle.py`) as long as no other one ends like that.
Else the one is meant that stands at the top, or beside a file that the same passage names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

from tests.support.references import ROOT, TOP_FOLDERS, Passage, matches, passages

_NOT_INSIDE = r"(?<![\w./~@:*-])"
"""A path is no part of an address, or of a path that begins elsewhere."""

_FILE = re.compile(
    _NOT_INSIDE + r"((?:[\w-]+/)*[\w*-]+\.(?:py|tcss)\b"  # a module or a style sheet, wherever it is
    rf"|(?:{'|'.join(TOP_FOLDERS)})/[\w./*-]*[\w*/])"  # anything below a top folder of the project
)
_FOLDER = re.compile(r"`((?:[a-z_]+/)+)`")
_MEMBER = re.compile(
    _NOT_INSIDE + r"((?:[a-z_]+/)+[a-z_]+)\.(?!py\b|tcss\b|md\b|toml\b|svg\b|png\b|h\b)([a-z_]+)\b(?!/)"
)
_DOTTED = re.compile(r"(?<![\w./-])((?:keen_tui|tests)(?:\.[a-z_]+)+)\b(?![/(])")
_NOT_OURS = re.compile(
    r"src/|[a-z]\.py$|tests/test_cart\.py$|docs/(?:shot\.png|money\.md|cart)|out/|commands/$|conftest\.py$"
)
"""What belongs to the made-up project of an example, to a user, or is written by a run."""

_RULE = re.compile(r"\b[Rr]ules? (\d+(?:(?:, | and )\d+)*)")
_PAGE = re.compile(r"(?i)\b([a-z][\w-]*\.md)\b")
_HEADING = re.compile(r'\b([a-z][\w-]*\.md),? \(?"([^"]+)"|"([^"]+)" (?:in|of) (?:docs/)?([a-z][\w-]*\.md)')
_DECISION = re.compile(r"\b[Dd]ecisions? (\d+(?:(?:, | and )\d+)*)(?:\]\((?:decisions/)?(\d+)-)?")
_TARGET = re.compile(r"`make ([a-z]+)\b")


def broken_files(passage: Passage) -> Iterator[str]:
    names = [name for name in _FILE.findall(passage.text) if not _NOT_OURS.match(name)]
    names += [name for name in _FOLDER.findall(passage.text) if not _NOT_OURS.match(name)]
    found = {name: matches(name) for name in names}
    clear = [
        passage.path.relative_to(ROOT),
        *(path for paths in found.values() if len(paths) == 1 for path in paths),
    ]
    beside = {str(path).rpartition("/")[0] for path in clear}
    for name, paths in found.items():
        meant = {name, name + "/", f"keen_tui/{name}", *(f"{folder}/{name}" for folder in beside)}
        if not paths:
            yield f"{name} is not there"
        elif len(paths) > 1 and "*" not in name and not paths & meant:
            yield f"{name} could be any of {', '.join(sorted(paths))}"


def broken_modules(passage: Passage) -> Iterator[str]:
    """`permissions/permissions.is_risky` and `tests.campaigns.workday`: modules, and names in them."""
    for module, name in _MEMBER.findall(passage.text):
        if not _NOT_OURS.match(module) and not any(_holds(path, name) for path in matches(f"{module}.py")):
            yield f"{module}.{name} is not there"
    for dotted in _DOTTED.findall(passage.text):
        path, _, name = dotted.replace(".", "/").rpartition("/")
        if not any((ROOT / path / each).exists() for each in (name, f"{name}.py")) and not _holds(
            f"{path}.py", name
        ):
            yield f"{dotted} is not there"


def _holds(path: str, name: str) -> bool:
    file = ROOT / path
    return (
        file.is_file()
        and re.search(rf"^(?:async def|def|class)? ?{name}\b", file.read_text(), re.M) is not None
    )


def broken_rows(passage: Passage) -> Iterator[str]:
    """What docs/architecture.md says of a folder names modules and folders in there."""
    cells = passage.text.split(" | ")
    if passage.path != ROOT / "docs" / "architecture.md" or len(cells) != 2:
        return
    folders = [
        path for name in re.findall(r"`([a-z_/]+)/`", cells[0]) for path in matches(f"keen_tui/{name}/")
    ]
    for name in re.findall(r"`([a-z_]+)`", cells[1]) if folders else ():
        below = (path for end in (f"{name}.py", f"{name}/") for path in matches(end))
        if not any(path.startswith(tuple(folders)) for path in below):
            yield f"{name} is not in {' or '.join(folders)}"


def broken_rules(passage: Passage) -> Iterator[str]:
    for numbers in _RULE.findall(passage.text):
        pages = [ROOT / "docs" / page.lower() for page in _PAGE.findall(passage.text)]
        if passage.path.parent == ROOT / "docs":
            pages.append(passage.path)
        texts = [page.read_text() for page in pages if page.is_file()]
        for number in re.findall(r"\d+", numbers):
            if not any(re.search(rf"^#+ Rule {number}: ", text, re.M) for text in texts):
                named = " or ".join({page.name: None for page in pages}) or "a page that is named there"
                yield f"rule {number} is not in {named}"


def broken_headings(passage: Passage) -> Iterator[str]:
    for page, heading, heading_before, page_behind in _HEADING.findall(passage.text):
        wanted = heading or heading_before
        paths = [ROOT / path for path in matches(page or page_behind)]
        if not any(re.search(rf"^#+ {re.escape(wanted)}$", path.read_text(), re.M) for path in paths):
            yield f'{page or page_behind} has no heading "{wanted}"'


def broken_decisions(passage: Passage) -> Iterator[str]:
    for numbers, linked in _DECISION.findall(passage.text):
        for number in re.findall(r"\d+", numbers):
            if not list((ROOT / "docs" / "decisions").glob(f"{int(number):03}-*.md")):
                yield f"there is no decision {number}"
        if linked and int(linked) != int(numbers):
            yield f"decision {numbers} is linked to number {linked}"


def broken_targets(passage: Passage) -> Iterator[str]:
    makefile = (ROOT / "Makefile").read_text()
    for target in _TARGET.findall(passage.text):
        if not re.search(rf"^{target}:", makefile, re.M):
            yield f"the Makefile has no target {target}"


@pytest.mark.parametrize(
    "broken",
    [
        broken_files,
        broken_modules,
        broken_rows,
        broken_rules,
        broken_headings,
        broken_decisions,
        broken_targets,
    ],
    ids=lambda broken: broken.__name__.removeprefix("broken_"),
)
def test_every_reference_leads_somewhere(broken: Callable[[Passage], Iterator[str]]) -> None:
    found = [f"{passage.place}: {what}" for passage in passages() for what in broken(passage)]
    assert not found, "\n" + "\n".join(found)
