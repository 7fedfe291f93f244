"""The moving picture of the README: at each moment it shows one frame, and it needs nothing from outside."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.support.moving import Frame, film

TOUR = Path(__file__).parents[2] / "docs" / "pictures" / "tour.svg"
MOST_BYTES = 500_000
PAPER = '<rect x="0" y="0" width="8" height="17" fill="#000000"/>'


def row(text: str) -> str:
    return f'{PAPER}\n<text x="0" y="13" fill="#ffffff">{text}</text>' if text else PAPER


def frame(*texts: str, seconds: float = 1.0) -> Frame:
    return Frame(tuple(map(row, texts)), seconds)


def shown(svg: str, moment: float | None) -> list[str]:
    """The texts in view at a share of the film, or where no motion is wanted."""
    texts = []
    for group in re.findall(r'<g class="([^"]*)">(.*?)</g>', svg, re.DOTALL):
        classes, drawing = group
        if "still" in classes if moment is None else is_on(svg, classes.split()[0], moment):
            texts += re.findall(r">([^<]+)</text>", drawing)
    always = re.sub(r"<g .*?</g>", "", svg.partition("</style>")[2], flags=re.DOTALL)
    return sorted([*texts, *re.findall(r">([^<]+)</text>", always)])


def is_on(svg: str, name: str, moment: float) -> bool:
    (steps,) = re.findall(rf"@keyframes {name} \{{(.*)\}}\n", svg)
    changes: list[tuple[str, str]] = re.findall(r"([\d.]+)% \{ opacity: (.) \}", steps)
    return [seen for at, seen in changes if float(at) <= moment * 100][-1] == "1"


FILM = film(
    [frame("head", "one"), frame("head", "two", seconds=2.0), frame("head", "one"), frame("head", "")],
    still=1,
    size=(1, 2),
    label="two rows",
)


@pytest.mark.parametrize(
    ("moment", "texts"),
    [
        (0.0, ["head", "one"]),
        (0.3, ["head", "two"]),
        (0.59, ["head", "two"]),
        (0.7, ["head", "one"]),
        (0.9, ["head"]),
    ],
)
def test_each_moment_shows_its_frame(moment: float, texts: list[str]) -> None:
    assert shown(FILM, moment) == texts


def test_who_wants_no_motion_sees_the_chosen_frame() -> None:
    assert shown(FILM, None) == ["head", "two"]
    assert "@media (prefers-reduced-motion: no-preference) {\ng { animation: 5.0s step-end infinite }" in FILM


def test_what_is_the_same_is_drawn_once() -> None:
    assert FILM.count(">head</text>") == FILM.count(">one</text>") == 1


def test_the_picture_of_the_tour_is_small_and_needs_nothing() -> None:
    svg = TOUR.read_text()
    assert len(svg.encode()) < MOST_BYTES
    elements = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(svg).iter()}
    assert elements == {"svg", "title", "style", "rect", "g", "text"}
    assert not re.search(r"url\(|@import|href", svg)
