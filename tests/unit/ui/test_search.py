"""The search engine of the transcript: what it counts, in which order, and what it need not search again."""

from __future__ import annotations

from collections.abc import Sequence

from keen_tui.domain.display import CommandDisplay, FileDisplay
from keen_tui.frontends.tui.state.state import Block, ReasoningBlock, UserBlock
from keen_tui.frontends.tui.state.trail import Trail
from keen_tui.frontends.tui.transcript.document import Document
from keen_tui.frontends.tui.transcript.finding import Finder, Tally
from keen_tui.frontends.tui.transcript.flow import Flows
from keen_tui.frontends.tui.transcript.search import Hit, TranscriptSearch
from keen_tui.text.find import Needle
from tests.support.screen import DIFF, done_block, look, text_block, tool_block

LONG = 60.0


def document_of(*blocks: Block) -> Document:
    document = Document(look(), lambda: 0.0)
    document.show(Trail(blocks), ())
    return document


def finder_of(document: Document, words: str) -> Finder:
    finder = Finder(document, Flows(document))
    finder.begin(Needle(words))
    finder.run(LONG)
    return finder


def users(*texts: str) -> Sequence[Block]:
    return [UserBlock(turn=number, text=text) for number, text in enumerate(texts, 1)]


def test_hits_are_numbered_from_the_first_block_to_the_last() -> None:
    search = TranscriptSearch(document_of(*users("a a", "none", "a", "b a")))
    search.begin(Needle("a"), near=3)
    search.run(LONG)
    assert search.total == 4
    assert [search.hit(number) for number in range(4)] == [Hit(0, 0), Hit(0, 1), Hit(2, 0), Hit(3, 0)]
    assert search.number(Hit(2, 0)) == 2


def test_the_search_goes_up_from_where_one_looks_and_then_below() -> None:
    ticks = iter(range(1000))
    search = TranscriptSearch(document_of(*users("a", "a", "a", "a")), clock=lambda: next(ticks))
    search.begin(Needle("a"), near=1)
    order = []
    while search.unfinished:
        before = [search.hits_in(block) for block in range(4)]
        search.run(1.5)
        order += [block for block in range(4) if search.hits_in(block) > before[block]]
    assert order == [1, 0, 2, 3]


def test_a_longer_needle_is_searched_only_where_the_shorter_one_stands() -> None:
    ticks = iter(range(1000))
    search = TranscriptSearch(document_of(*users("disc", "none", "discount")), clock=lambda: next(ticks))
    search.begin(Needle("disc"), near=2)
    while search.unfinished:
        search.run(2.5)
    search.begin(Needle("disco"), near=2)
    search.run(1.5)
    assert search.unfinished
    search.run(1.5)
    assert not search.unfinished
    assert search.total == 1


def test_only_blocks_that_changed_are_searched_again() -> None:
    ticks = iter(range(1000))
    past = Trail[Block](users("a", "a", "a"))
    document = document_of(*past)
    search = TranscriptSearch(document, clock=lambda: next(ticks))
    search.begin(Needle("a"), near=2)
    while search.unfinished:
        search.run(9.5)
    search.follow(document.show(past, (text_block("a a", open=True),)))
    search.run(1.5)
    assert not search.unfinished
    assert search.total == 5
    search.follow(document.show(past, (text_block("a a a", open=True),)))
    search.run(1.5)
    assert search.total == 6
    search.follow(document.show(past, ()))
    assert search.total == 3


def test_what_an_unfolded_block_shows_is_found_in_all_kinds_of_blocks() -> None:
    command = CommandDisplay(command="make needle", output="one needle\ntwo\n", exit_code=2)
    blocks: list[Block] = [
        UserBlock(turn=1, text="a needle"),
        ReasoningBlock(turn=1, step=1, text="the needle", seconds=6.0, open=False),
        text_block("**the** `needle`"),
        tool_block("c", target="needle.py", summary="3 needles", display=command, exit_code=2),
        tool_block("e", "edit_file", "a.py", display=DIFF),
        done_block(),
    ]
    search = TranscriptSearch(document_of(*blocks))
    search.begin(Needle("needle"), near=5)
    search.run(LONG)
    assert [search.hits_in(block) for block in range(6)] == [1, 1, 1, 3, 0, 0]
    for words, block in (
        ("the needle", 2), ("turn 1 done", 5), ("exit 2", 3), ("return amount", 4), ("thought for 6", 1),
    ):  # fmt: skip
        search.begin(Needle(words), near=5)
        search.run(LONG)
        assert search.hits_in(block), words


def test_the_nearest_hit_above_is_shown_first_and_the_step_over_the_first_says_so() -> None:
    finder = finder_of(document_of(*users("a", "b", "a", "b")), "a")
    assert finder.tally == Tally(2, 2)
    assert finder.step(-1) and finder.tally == Tally(1, 2)
    assert finder.step(-1) and finder.tally == Tally(2, 2, wrapped=-1)
    assert finder.step(1) and finder.tally == Tally(1, 2, wrapped=1)
    assert finder.step(1) and finder.tally == Tally(2, 2)


def test_a_guess_that_was_too_high_is_corrected_on_arrival() -> None:
    address = text_block("see [there](https://x.y/needle)")
    finder = finder_of(document_of(*users("needle"), address, *users("needle")), "needle")
    assert finder.tally == Tally(3, 3)
    assert finder.step(-1)
    assert finder.current == Hit(0, 0)
    assert finder.tally == Tally(1, 2)


def test_where_every_guess_was_wrong_nothing_is_found() -> None:
    finder = finder_of(document_of(text_block("[there](https://x.y/needle)")), "needle")
    assert finder.current is None
    assert finder.tally == Tally()


def test_a_hit_in_a_folded_block_unfolds_it_until_another_one_is_shown() -> None:
    file = FileDisplay(path="a.py", text="the amount")
    document = document_of(*users("amount"), tool_block("e", "read_file", "a.py", display=file))
    finder = finder_of(document, "amount")
    diff = document.entries[1].block
    assert finder.current == Hit(1, 0)
    assert document.is_unfolded(diff)
    assert finder.step(-1)
    assert not document.is_unfolded(diff)
    assert finder.step(1)
    finder.stay()
    assert finder.step(-1)
    assert document.is_unfolded(diff)


def test_a_hit_in_the_row_of_a_folded_call_leaves_it_folded() -> None:
    file = FileDisplay(path="needle.py", text="hay")
    document = document_of(tool_block("e", "read_file", "needle.py", display=file))
    assert finder_of(document, "needle").current == Hit(0, 0)
    assert not document.is_unfolded(document.entries[0].block)


def test_after_a_step_other_words_are_looked_for_from_there() -> None:
    document = document_of(*users("ab", "ab", "a", "ab"))
    finder = finder_of(document, "a")
    assert finder.step(-1) and finder.step(-1)
    finder.begin(Needle("ab"))
    finder.run(LONG)
    assert finder.current == Hit(1, 0)


def test_a_block_that_showed_a_part_shows_that_part_again_when_another_hit_is_shown() -> None:
    output = "\n".join(["the amount", *map(str, range(20))])
    display = CommandDisplay(command="make", output=output, exit_code=2)
    document = document_of(*users("amount"), tool_block("c", status="failed", display=display, exit_code=2))
    before = [line.text for line in document.lines(1)]
    finder = finder_of(document, "amount")
    assert finder.current == Hit(1, 0)
    assert len(document.lines(1)) > len(before)
    assert finder.step(-1)
    assert [line.text for line in document.lines(1)] == before
