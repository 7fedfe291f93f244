"""The part of a document that is in view, and the block cursor, without a screen."""

from __future__ import annotations

from textual.geometry import Offset, Size

from keen_tui.frontends.tui.state.state import Block, UserBlock
from keen_tui.frontends.tui.state.trail import Trail
from keen_tui.frontends.tui.transcript.cursor import BlockCursor
from keen_tui.frontends.tui.transcript.document import Document
from keen_tui.frontends.tui.transcript.viewport import Viewport
from tests.support.screen import look, text_block

HEIGHT = 10


class Surface:
    """A view of `HEIGHT` rows that has the focus."""

    has_focus = True
    size = Size(80, HEIGHT)

    def __init__(self) -> None:
        self.scroll_offset = Offset(0, 0)
        self.announced = 0

    def scroll_to_row(self, row: int) -> None:
        self.scroll_offset = Offset(0, row)

    def refresh(self) -> None:
        """Nothing is painted."""

    def refresh_changed(self) -> None:
        """Nothing is painted."""

    def announce(self) -> None:
        self.announced += 1


def questions(count: int) -> tuple[Block, ...]:
    """Blocks of a row each, with a blank one between them."""
    return tuple(UserBlock(turn=turn, text=f"question {turn}") for turn in range(1, count + 1))


def seen(*blocks: Block) -> tuple[Surface, Document, Viewport]:
    """These blocks, from their end."""
    surface, document = Surface(), Document(look(), lambda: 0.0)
    document.show(Trail(blocks), ())
    viewport = Viewport(surface, document)
    viewport.settle()
    return surface, document, viewport


def test_it_follows_the_end_until_it_is_scrolled_up_and_again_from_there_on() -> None:
    _, document, viewport = seen(*questions(20))
    assert viewport.row == document.rows - HEIGHT and viewport.following
    viewport.scroll(-1)
    assert viewport.below == 1 and not viewport.following
    viewport.scroll(1)
    assert viewport.below == 0 and viewport.following


def test_it_stays_on_its_block_when_others_come_above_it() -> None:
    _, document, viewport = seen(*questions(20))
    viewport.go_home()
    document.show(Trail((text_block("older words"), *questions(20))), ())
    viewport.moved_down(1)
    viewport.settle()
    assert viewport.top.block == 1 and viewport.row == document.top(1)


def test_held_where_it_is_it_does_not_follow_the_end() -> None:
    _, _, viewport = seen(*questions(20))
    viewport.may_follow = False
    viewport.scroll(1)
    assert viewport.below == 0 and not viewport.following


def test_the_cursor_begins_on_the_last_block_in_view_and_takes_the_view_along() -> None:
    surface, document, viewport = seen(*questions(20))
    cursor = BlockCursor(surface, document, viewport)
    assert cursor.block is None
    cursor.move(-1)
    assert cursor.index == 18
    for _ in range(18):
        cursor.move(-1)
        assert cursor.index in viewport.blocks
    assert viewport.row == 0
    before = surface.announced
    cursor.move(-1)
    assert cursor.index == 0 and surface.announced > before


def test_a_block_that_is_revealed_is_in_view_with_rows_above_it() -> None:
    surface, document, viewport = seen(*questions(20))
    cursor = BlockCursor(surface, document, viewport)
    for index in range(20):
        viewport.go_home()
        cursor.reveal(index)
        row = document.top(index) + document.entries[index].gap - viewport.row
        end = document.rows - HEIGHT
        assert row >= 2 or viewport.row == 0
        assert row <= 3 or viewport.row == end
        assert row < HEIGHT


def test_a_block_is_revealed_in_a_view_of_three_rows() -> None:
    surface, document, viewport = seen(*questions(20))
    surface.size = Size(80, 3)
    cursor = BlockCursor(surface, document, viewport)
    for index in range(20):
        viewport.go_home()
        cursor.reveal(index)
        assert index in viewport.blocks


def test_a_range_is_drawn_out_and_given_up() -> None:
    surface, document, viewport = seen(*questions(20))
    cursor = BlockCursor(surface, document, viewport)
    cursor.stand_on(18)
    cursor.move(-1, extend=True)
    cursor.move(-1, extend=True)
    assert [*cursor.indices] == [16, 17, 18] and 17 in cursor.painted
    cursor.move(1)
    assert [*cursor.indices] == [17]
