"""/review on the screen: the page while the review runs, its findings, and what can be done with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fake_reviews import FakeReviews
from tests.support.workspace import Driver, workspace


async def open_page(driver: Driver, words: str = "/review") -> None:
    await driver.type(words)
    await driver.press("enter")
    await driver.until_shown("esc back")


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 12)])
async def test_the_page_shows_progress_then_a_row_for_each_finding(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    reviews = FakeReviews()
    async with workspace(tmp_path, reviews=reviews, size=size) as driver:
        await open_page(driver)
        assert driver.shows("Reviewing 2 files, 2 calls so far.")
        assert driver.shows("k stop")
        reviews.end()
        await driver.until_shown("2 findings in 2 files.")
        assert "src/cart.py:3-4" in driver.rows()[driver.row_with("P1 The discount is applied twice")]
        await driver.press("down", "enter")
        await driver.until_shown("total() subtracts it already.")
        assert driver.shows("Leave it to total().")
        await driver.press("escape", "up", "enter")
        await driver.until_shown("It adds vouchers.")


async def test_a_finding_is_handed_back_as_a_draft(tmp_path: Path) -> None:
    reviews = FakeReviews()
    async with workspace(tmp_path, reviews=reviews) as driver:
        await open_page(driver)
        reviews.end()
        await driver.until_shown("2 findings in 2 files.")
        await driver.press("t")  # the overview is no finding
        await driver.press("down", "t")
        await driver.until(lambda: driver.app.screen is driver.screen)
        assert driver.screen.prompt.written.startswith(
            "Fix this finding of a review, in src/cart.py:3-4: The discount is applied twice\n"
        )


async def test_the_place_opens_in_the_editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "cart.py").write_text("1\n2\n3\n")
    opened: list[tuple[Path, int]] = []

    async def open_in_editor(_: object, file: Path, line: int = 0) -> None:
        opened.append((file, line))

    monkeypatch.setattr("keen_tui.frontends.tui.terminal.external_editor.open_in_editor", open_in_editor)
    reviews = FakeReviews(str(tmp_path))
    async with workspace(tmp_path, reviews=reviews) as driver:
        await open_page(driver)
        reviews.end()
        await driver.until_shown("2 findings in 2 files.")
        await driver.press("down", "e")
        await driver.until(lambda: opened == [(tmp_path / "src" / "cart.py", 3)])
        await driver.press("enter", "enter")
        await driver.until(lambda: len(opened) == 2)
        await driver.press("escape", "down", "e")
        await driver.until_shown("isn't a file here")


async def test_a_review_goes_on_behind_the_page_and_says_when_it_is_done(tmp_path: Path) -> None:
    reviews = FakeReviews()
    async with workspace(tmp_path, reviews=reviews) as driver:
        await open_page(driver, "/review base main")
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.screen)
        reviews.end()
        await driver.until_shown("2 findings in 2 files. /review show shows the review.")
        await open_page(driver, "/review show")
        assert len(reviews.wishes) == 1


async def test_a_key_stops_the_review(tmp_path: Path) -> None:
    async with workspace(tmp_path, reviews=FakeReviews()) as driver:
        await open_page(driver)
        await driver.press("k")
        await driver.until_shown("The review isn't finished: You stopped it.")
        assert not driver.shows("k stop")


async def test_wrong_words_are_put_back(tmp_path: Path) -> None:
    async with workspace(tmp_path, reviews=FakeReviews()) as driver:
        await driver.type("/review base")
        await driver.press("enter")
        await driver.until_shown("Write /review, /review base BRANCH")
        assert driver.screen.prompt.written == "/review base"


async def test_a_misspelt_word_starts_no_review(tmp_path: Path) -> None:
    reviews = FakeReviews()
    async with workspace(tmp_path, reviews=reviews) as driver:
        await driver.type("/review stpo")
        await driver.press("enter")
        await driver.until_shown("'stpo' would be the focus of a review. Did you mean stop?")
        assert reviews.wishes == []
