"""The blocks of a document and their heights, without a screen."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Never

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keen_tui.frontends.tui.state.state import Block, EndBlock, NoticeBlock, ReasoningBlock, UserBlock
from keen_tui.frontends.tui.state.trail import Trail
from keen_tui.frontends.tui.transcript.document import Document
from keen_tui.frontends.tui.transcript.placed_block import BLOCKS_KEPT, PlacedBlock
from tests.support import story
from tests.support.screen import done_block, long_session, look, text_block, tool_block

LIVE: tuple[Block, ...] = (UserBlock(turn=99, text="now"), text_block("so", turn=99, open=True))
PAST: tuple[Block, ...] = (
    *long_session(40),
    ReasoningBlock(turn=11, step=1, text="hm\nso", seconds=2.0, open=False),
    text_block("a text of some length " * 20, turn=11),
    done_block(11),
)


def document() -> Document:
    return Document(look(width=40), clock=lambda: 0.0)


class Unread(Sequence[PlacedBlock]):
    """Blocks that nobody may look at."""

    def __init__(self, length: int) -> None:
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: object) -> Never:
        raise AssertionError("somebody looked at a block")


def estimated(of: Document) -> list[int]:
    """Where each block begins, and where the last one ends, as long as nothing was drawn."""
    return [of.top(index) for index in range(len(of) + 1)]


def prepared(to: Document, past: Sequence[Block], *cuts: int) -> Trail[Block]:
    """Have the document take the past in piece by piece; gives all of it."""
    trail = Trail[Block]()
    for start, end in pairwise((0, *cuts, len(past))):
        trail = trail.plus(past[start:end])
        to.prepare(trail)
    return trail


@pytest.mark.parametrize("cuts", [(), (7,), (1, 2, 30), (len(PAST),)])
@pytest.mark.parametrize("unfolded", [True, False])
def test_a_past_that_came_piece_by_piece_is_as_high_as_one_that_came_at_once(
    cuts: tuple[int, ...], unfolded: bool
) -> None:
    at_once, in_pieces = document(), document()
    if unfolded:
        at_once.next_folding()
        in_pieces.next_folding()
    at_once.show(Trail(PAST), LIVE)
    past = prepared(in_pieces, PAST, *cuts)
    assert len(in_pieces) == 0, "nothing of it is shown yet"
    assert in_pieces.adopt(past)
    in_pieces.show(past, LIVE)
    assert [entry.block for entry in in_pieces.entries] == [*PAST, *LIVE]
    assert estimated(in_pieces) == estimated(at_once)
    at_once.redraw(look(width=60))
    in_pieces.redraw(look(width=60))
    for each in (at_once, in_pieces):
        each.update_heights(len(each))
    assert estimated(in_pieces) == estimated(at_once)


@given(
    st.lists(st.sampled_from(["fold", "widen", "slice", "look"]), max_size=12),
    st.sampled_from(["fold", "widen"]),
    st.integers(0, len(PAST)),
)
def test_blocks_changed_in_slices_are_as_high_as_those_changed_at_once(
    deeds: list[str], last: str, index: int
) -> None:
    in_slices, at_once = document(), document()
    in_slices.show(Trail(PAST), LIVE)
    for deed in [*deeds, last]:
        match deed:
            case "fold":
                in_slices.next_folding()
                at_once.next_folding()
            case "widen":
                wider = look(width=in_slices.look.width + 5)
                in_slices.redraw(wider)
                at_once.redraw(wider)
            case "slice":
                in_slices.update_heights(3)
            case "look":
                in_slices.lines(index)
    while in_slices.outdated:
        in_slices.update_heights(7)
    at_once.show(Trail(PAST), LIVE)
    if "look" not in deeds:
        assert estimated(in_slices) == estimated(at_once)
    for each in range(len(at_once)):
        assert in_slices.height(each) == at_once.height(each)


def test_changing_all_blocks_looks_at_none(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = document()
    shown.show(Trail(PAST), LIVE)
    with monkeypatch.context() as patch:
        patch.setattr(shown, "entries", Unread(len(shown)))
        shown.next_folding()
        shown.redraw(look(width=60))
    shown.update_heights(5)
    assert shown.outdated
    shown.update_heights(len(PAST) + len(LIVE))
    assert not shown.outdated


def test_what_was_prepared_of_another_past_is_not_taken_for_this_one() -> None:
    shown, other = document(), Trail(PAST)
    prepared(shown, PAST)
    assert not shown.adopt(other)
    shown.show(other, LIVE)
    assert len(shown) == len(PAST) + len(LIVE)
    past = prepared(shown, PAST[:20], 10)
    assert shown.adopt(past.plus(PAST[20:]))
    assert len(shown) == 20
    assert not shown.adopt(past), "what was prepared is used once"


def test_what_is_unfolded_while_a_past_is_prepared_is_unfolded_in_it() -> None:
    shown = document()
    shown.show(Trail(PAST[:4]), ())
    past = prepared(shown, PAST, 10)
    assert shown.toggle(1)
    shown.adopt(past)
    shown.update_heights(len(PAST))
    folded = document()
    folded.show(past, ())
    assert estimated(shown)[2] > estimated(folded)[2]
    shown.toggle(1)
    assert estimated(shown) == estimated(folded)


def test_heights_that_were_known_are_estimates_again_in_another_width() -> None:
    shown, anew = document(), Document(look(width=60), clock=lambda: 0.0)
    shown.show(Trail(PAST), ())
    wrapped = len(PAST) - 2
    measured = shown.height(wrapped)
    shown.redraw(look(width=60))
    shown.update_heights(len(PAST))
    anew.show(Trail(PAST), ())
    assert estimated(shown) == estimated(anew)
    assert shown.height(wrapped) == anew.height(wrapped) < measured


def test_what_is_prepared_is_measured_as_it_is_folded_when_it_is_shown() -> None:
    turned, plain = document(), document()
    first = Trail(PAST[:20]), ()
    for each in (turned, plain):
        each.show(*first)
    index = next(number for number, block in enumerate(PAST[:20]) if turned.toggle(number))
    past = prepared(turned, PAST)
    turned.toggle(index)
    assert turned.adopt(past)
    turned.update_heights(len(PAST))
    plain.show(past, ())
    turned.show(past, ())
    assert estimated(turned) == estimated(plain)


def test_a_block_without_rows_gets_no_height_from_the_one_before_it() -> None:
    shown = document()
    thinking = ReasoningBlock(turn=1, step=1, text="Well.", seconds=1.0)
    shown.show(Trail([thinking, text_block(" ", turn=1), UserBlock(turn=2, text="next")]), ())
    assert [shown.height(index) for index in range(3)] == [1, 0, 2]
    for height in (2, 1):
        shown.toggle(0)
        assert [shown.height(0), *(shown.top(index + 1) - shown.top(index) for index in (1, 2))] == [
            height,
            0,
            2,
        ]


def test_to_copy_a_block_changes_no_height() -> None:
    shown = document()
    shown.show(Trail(PAST), ())
    heights = estimated(shown)
    shown.redraw(look(width=60))
    shown.next_folding()
    text = [[line.text for line in shown.drawn(index)] for index in range(len(shown))]
    assert estimated(shown) == heights
    assert text == [[line.text for line in shown.lines(index)] for index in range(len(shown))]


def test_what_is_prepared_has_the_width_that_it_is_shown_in() -> None:
    shown, anew = document(), Document(look(width=60), clock=lambda: 0.0)
    past = prepared(shown, PAST[:20])
    shown.redraw(look(width=60))
    past = past.plus(PAST[20:])
    shown.prepare(past)
    assert shown.adopt(past)
    shown.update_heights(len(PAST))
    anew.show(Trail(PAST), ())
    assert estimated(shown) == estimated(anew)


def test_text_that_was_read_ahead_is_shown_like_any_other() -> None:
    begun, more = "# One\n\ntwo", "# One\n\ntwo words\n\n- three"
    growing, at_once = document(), document()
    growing.show(Trail(PAST), (text_block(begun, turn=99, open=True),))
    shown = list(growing.lines(len(PAST)))
    assert growing.read_ahead(len(PAST), (text_block(more, turn=99, open=True),))
    assert list(growing.lines(len(PAST))) == shown
    for each in (growing, at_once):
        each.show(Trail(PAST), (text_block(more + " and four", turn=99, open=True),))
    assert list(growing.lines(len(PAST))) == list(at_once.lines(len(PAST))) != shown


@pytest.mark.parametrize(
    "block",
    [
        text_block("so", turn=99, open=True),
        ReasoningBlock(turn=99, step=1, text="hm", seconds=2.0, open=True),
        EndBlock(end=story.incomplete(99)),
        tool_block(turn=99),
        done_block(99),
    ],
)
def test_a_block_is_drawn_as_the_last_one_only_while_none_follows(block: Block) -> None:
    follower = UserBlock(turn=100, text="more")
    for before, after in ((block,), (block, follower)), ((block, follower), (block,)):
        changed, anew = document(), document()
        changed.show(Trail(), before)
        changed.lines(0)
        for each in (changed, anew):
            each.show(Trail(), after)
        assert list(changed.lines(0)) == list(anew.lines(0))
        assert changed.height(0) == anew.height(0)


def test_only_so_many_blocks_keep_their_rows() -> None:
    shown = document()
    shown.show(Trail([UserBlock(turn=turn, text="hi") for turn in range(2 * BLOCKS_KEPT)]), ())
    for index in range(len(shown)):
        shown.lines(index)
    kept = [index for index, entry in enumerate(shown.entries) if entry.lines is not None]
    assert kept == list(range(BLOCKS_KEPT, 2 * BLOCKS_KEPT))


@pytest.mark.parametrize(
    "live",
    [
        (),
        (text_block("so", turn=99, open=True), UserBlock(turn=99, text="more")),
        (UserBlock(turn=99, text="now"),),
        (text_block("so far", turn=98, open=True),),
    ],
)
def test_nothing_is_read_ahead_of_other_blocks(live: tuple[Block, ...]) -> None:
    shown = document()
    shown.show(Trail(PAST), LIVE[1:])
    shown.lines(len(PAST))
    assert not shown.read_ahead(len(PAST), live)


def test_the_first_block_is_itself_though_another_one_has_its_name() -> None:
    notices = tuple(NoticeBlock(turn=1, text=text) for text in ("one", "two"))
    shown = document()
    shown.show(Trail(notices), ())
    assert shown.index_of(notices[0]) == 0
