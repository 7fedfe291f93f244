"""What is shown of a block without unfolding it, and the states that one key goes through."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from keen_tui.domain.display import CommandDisplay, DiffDisplay, DiffLine, FileDisplay
from keen_tui.domain.messages import ToolResult
from keen_tui.frontends.tui.state.displays import PackedDisplay
from keen_tui.frontends.tui.state.state import OWN_COMMAND, Block, ReasoningBlock, ToolBlock, UserBlock
from keen_tui.frontends.tui.state.state_edits import finished
from keen_tui.frontends.tui.state.trail import Trail
from keen_tui.frontends.tui.transcript.blocks.block_context import BlockContext
from keen_tui.frontends.tui.transcript.blocks.block_rows import draw_block, extent
from keen_tui.frontends.tui.transcript.blocks.folding import (
    MOST_DIFF_ROWS,
    MOST_OUTPUT_ROWS,
    Folds,
    usual_view,
)
from keen_tui.frontends.tui.transcript.document import Document
from keen_tui.frontends.tui.widgets.pastes import Pastes
from tests.support.screen import DIFF, look, text_block, tool_block

SCENE = BlockContext(look=look(), now=0.0)


def document_of(*blocks: Block) -> Document:
    document = Document(look(), lambda: 0.0)
    document.show(Trail(blocks), ())
    return document


def shown(document: Document, index: int = 0) -> list[str]:
    return [line.text.strip() for line in document.lines(index)]


def added(lines: int) -> DiffDisplay:
    rows = tuple(DiffLine(sign="+", number=number, text=f"line_{number}") for number in range(1, lines + 1))
    return DiffDisplay(path="a.txt", hunks=(rows,), added=lines, removed=0, total_lines=lines)


def failed(output: str, exit_code: int = 1) -> ToolBlock:
    display = CommandDisplay(command="make", output=output, exit_code=exit_code)
    return tool_block(status="failed", display=display, exit_code=exit_code)


def test_a_failed_command_shows_its_last_rows_and_says_how_many_are_above() -> None:
    rows = shown(document_of(failed("\n".join(f"row {number}" for number in range(100)))))
    assert len(rows) == 1 + MOST_OUTPUT_ROWS
    assert rows[1] == "… 93 lines above"
    assert rows[2:] == [f"row {number}" for number in range(93, 100)]


def test_a_failed_command_with_little_output_shows_all_of_it() -> None:
    assert shown(document_of(failed("one\ntwo\n")))[1:] == ["one", "two"]


def test_a_failed_command_that_printed_nothing_is_one_row() -> None:
    assert len(shown(document_of(failed("\n \n")))) == 1


def test_the_last_line_of_a_command_may_be_long() -> None:
    rows = shown(document_of(failed("x" * 100_000)))
    assert len(rows) <= 1 + MOST_OUTPUT_ROWS
    assert rows[-1].startswith("x")


def succeeded(output: str) -> ToolBlock:
    result = ToolResult(text="", display=CommandDisplay(command="make", output=output, exit_code=0))
    return finished(tool_block(status="running"), result, 0.003, packs=True)


@pytest.mark.parametrize("end", ["", "\n", "\n \n\n"])
def test_a_command_that_succeeded_shows_its_last_three_rows_and_says_how_many_are_above(end: str) -> None:
    block = succeeded("\n".join(f"row {number}" for number in range(100)) + end)
    assert isinstance(block.shown, PackedDisplay)
    rows = shown(document_of(block))
    assert "97 lines above" in rows[0]
    assert [row.removeprefix("┊ ") for row in rows[1:]] == ["row 97", "row 98", "row 99"]


def test_empty_lines_near_the_end_of_the_output_are_left_out() -> None:
    rows = shown(document_of(succeeded("first\nsecond\n\nthird\n\n\nlast")))
    assert "1 line above" in rows[0]
    assert [row.removeprefix("┊ ") for row in rows[1:]] == ["second", "third", "last"]


def test_the_users_own_command_has_no_count_over_its_output() -> None:
    display = CommandDisplay(command="ls", output="\n".join(map(str, range(30))), exit_code=0)
    running = tool_block(name=OWN_COMMAND, status="running")
    rows = shown(document_of(finished(running, ToolResult(text="", display=display), 0.003, packs=False)))
    assert "above" not in rows[0] and len(rows) == 31


def test_little_output_is_shown_whole_and_without_a_count() -> None:
    rows = shown(document_of(succeeded("3\n")))
    assert "above" not in rows[0] and rows[1:] == ["┊ 3"]


def test_a_command_that_printed_nothing_says_so_in_its_row() -> None:
    assert len(shown(document_of(succeeded(" \n")))) == 1


def test_a_folded_command_has_the_summary_in_its_row() -> None:
    result = ToolResult(
        text="", summary="9 passed", display=CommandDisplay(command="make", output="a\n9 passed", exit_code=0)
    )
    document = document_of(finished(tool_block(status="running"), result, 0.003, packs=True))
    assert "9 passed" not in shown(document)[0]
    document.set_view(0, "folded")
    assert "9 passed" in shown(document)[0] and len(shown(document)) == 1
    document.set_view(0, "unfolded")
    assert shown(document)[1:] == ["$ make", "a", "9 passed"]


def test_commands_that_succeeded_follow_one_another_without_an_empty_row() -> None:
    document = document_of(succeeded("a"), replace(succeeded("b"), id="b"))
    assert [entry.gap for entry in document.entries] == [0, 0]


def test_an_edit_shows_its_diff() -> None:
    assert any("return amount" in row for row in shown(document_of(tool_block(display=DIFF))))


def test_a_big_edit_shows_the_first_rows_of_its_diff_and_counts_the_others() -> None:
    rows = shown(document_of(tool_block(display=added(100))))
    assert len(rows) == 1 + MOST_DIFF_ROWS
    assert rows[1].endswith("+ line_1")
    assert rows[-1] == "… 81 more lines"


def test_lines_that_are_broken_into_many_rows_count_as_those() -> None:
    long = DiffLine(sign="+", number=1, text="word " * 2_000)
    display = DiffDisplay(path="a", hunks=((long,),), added=1, removed=0, total_lines=1)
    assert len(shown(document_of(tool_block(display=display)))) == 1 + MOST_DIFF_ROWS


def test_the_users_own_command_shows_all_that_it_printed() -> None:
    display = CommandDisplay(command="ls", output="\n".join(map(str, range(50))), exit_code=0)
    rows = shown(document_of(tool_block(name=OWN_COMMAND, display=display)))
    assert rows[1:] == [str(number) for number in range(50)]


def test_a_call_that_could_not_run_says_why() -> None:
    block = tool_block(name="bash", status="failed", text="Error: bash can't start in /w: .git is a link.")
    rows = shown(document_of(block))
    assert rows[1:] == ["bash can't start in /w: .git is a link."]


@pytest.mark.parametrize(
    "block",
    [
        tool_block(name="read_file", display=FileDisplay(path="a", text="b")),
        ReasoningBlock(turn=1, step=1, text="Hm.", seconds=1.0, open=False),
        tool_block(status="denied"),
        tool_block(status="running"),
    ],
)
def test_all_else_stays_folded(block: Block) -> None:
    assert usual_view(block) == "folded"


def test_one_key_goes_through_three_states() -> None:
    file = tool_block("r", "read_file", display=FileDisplay(path="a", text="what it holds"))
    document = document_of(file, failed("\n".join(f"row {number}" for number in range(100))))
    usual = [shown(document, 0), shown(document, 1)]
    assert document.next_folding() == "unfolded"
    assert len(shown(document, 0)) == 2 and len(shown(document, 1)) > 100
    assert document.next_folding() == "folded"
    assert [len(shown(document, 0)), len(shown(document, 1))] == [1, 1]
    assert document.next_folding() == "usual"
    assert [shown(document, 0), shown(document, 1)] == usual


def test_a_single_block_goes_from_its_part_to_all_of_it_and_to_its_row() -> None:
    document = document_of(failed("\n".join(map(str, range(100)))))
    heights = [len(document.lines(0))]
    for _ in range(3):
        document.toggle(0)
        heights.append(len(document.lines(0)))
    assert heights == [9, 103, 1, 103]


def test_the_gap_below_a_call_grows_when_it_turns_out_to_show_more() -> None:
    running, after = tool_block("a", status="running"), tool_block("b")
    document = Document(look(), lambda: 0.0)
    document.show(Trail(), (running, after))
    assert document.entries[1].gap == 0
    document.show(Trail(), (replace(failed("no"), id="a"), after))
    assert document.entries[1].gap == 1


def test_what_is_estimated_is_near_to_what_is_drawn() -> None:
    for block in (tool_block(display=added(100)), failed("row\n" * 100), tool_block(display=DIFF)):
        rows, _ = extent(block, Folds().view(block))
        assert abs(rows - len(document_of(block).lines(0))) <= 1


PASTE = "\n".join(f"pasted {number}" for number in range(200)) + "\n"


def test_a_long_paste_stays_its_label_until_it_is_unfolded() -> None:
    pastes = Pastes()
    label = pastes.fold(PASTE)
    document = document_of(
        UserBlock(turn=1, text=f"look at {pastes.unfold(label)}".strip()), text_block("ok")
    )
    document.labelled = pastes.labelled
    assert shown(document)[0].startswith("› look at [pasted: 200 lines]")
    assert len(shown(document)) == 1
    document.toggle(0)
    assert len(shown(document)) == 200
    document.toggle(0)
    assert len(shown(document)) == 1


def test_of_a_long_message_whose_pastes_are_not_known_the_middle_is_left_out() -> None:
    document = document_of(UserBlock(turn=1, text="look:\n" + PASTE))
    rows = shown(document)
    assert rows[0].startswith("› look:")
    assert "[… 196 more lines]" in rows
    assert rows[-1] == "pasted 199"


def test_a_short_message_does_not_fold() -> None:
    document = document_of(UserBlock(turn=1, text="hello"))
    assert not document.folds(0)
    assert draw_block(document.entries[0].block, SCENE)[0].text.strip() == "› hello"
