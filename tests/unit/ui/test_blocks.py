"""Blocks as rows: columns, words, what is said at the end of a turn."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from keen_tui.domain.display import (
    ChangedFile,
    CommandDisplay,
    Display,
    FileDisplay,
    FileListDisplay,
    TextDisplay,
    TodoDisplay,
    TodoItem,
)
from keen_tui.domain.errors import EndReason
from keen_tui.domain.events import Event, HostContacted, RetryScheduled, TurnError, TurnIncomplete
from keen_tui.domain.messages import TurnMemory, UnknownCall
from keen_tui.frontends.tui.look.cells import cut_target
from keen_tui.frontends.tui.look.glyphs import ASCII, UNICODE
from keen_tui.frontends.tui.state.reducer import apply_all
from keen_tui.frontends.tui.state.state import (
    Block,
    EndBlock,
    NoticeBlock,
    ReasoningBlock,
    RetryBlock,
    ToolStatus,
    UiState,
    UserBlock,
)
from keen_tui.frontends.tui.tool_views import render_display
from keen_tui.frontends.tui.transcript.blocks.block_context import BlockContext
from keen_tui.frontends.tui.transcript.blocks.block_rows import draw_block, extent, gap_before, source
from keen_tui.text.diff import diff_display
from keen_tui.text.labels import REASONS, SHORT_REASONS, call_line
from tests.support import story
from tests.support.screen import DIFF, incomplete_block, look, text_block, tool_block

SCENE = BlockContext(look=look(), now=12.0)


def rows(block: Block, context: BlockContext = SCENE) -> list[str]:
    return [line.text.rstrip() for line in draw_block(block, context)]


def error_block() -> EndBlock:
    end = TurnError(turn=1, attempt=1, reason="auth", detail="no key (401)", seconds=0.4)
    return EndBlock(end=end)


def test_a_tool_row_keeps_its_columns() -> None:
    (row,) = rows(tool_block(name="read_file", target="src/cart.py", summary="88 lines"))
    assert row[2] == "✓"
    assert row[4:8] == "read"
    assert row[10:21] == "src/cart.py"
    assert row[:68].endswith("88 lines")
    assert row[:76].endswith("3 ms")
    assert row[77] == "▸"


def test_a_long_target_is_cut_before_the_result() -> None:
    (row,) = rows(tool_block(target="pytest " + "x" * 200, summary="71 passed"))
    assert "x…   71 passed" in row
    assert len(row) == 78
    (path,) = rows(tool_block(name="edit_file", target="deep/" * 20 + "cart.py", display=DIFF))
    assert path[10] == "…" and "/cart.py" in path


def test_a_target_with_control_characters_stays_one_row() -> None:
    (row,) = rows(tool_block(target="echo a\nrm -rf /\x1b[2J\u202e"))
    assert "echo a rm -rf /<U+202E>" in row


CONTACTS = (
    HostContacted(turn=1, id="call", host="a.example"),
    HostContacted(turn=1, id="call", host="b.example", problem="no rule allows it"),
    HostContacted(turn=1, id="call", host="c.example\x1b[2J:8443"),
)


@pytest.mark.parametrize("status", ["running", "asks", "done", "failed"])
def test_hosts_are_named_below_the_call(status: ToolStatus) -> None:
    block = replace(tool_block(status=status, tail="out"), contacts=CONTACTS)
    assert rows(block)[1] == "    network: a.example, c.example:8443; not reached: b.example"
    unfolded = rows(block, replace(SCENE, unfolded=True))
    assert unfolded[1] == rows(block)[1]
    assert extent(block, "folded")[0] == 2


CHANGED = CommandDisplay(
    command="make",
    output="made",
    exit_code=0,
    changed=(
        ChangedFile(path="src/cart.py", change="changed", diff=diff_display("src/cart.py", "a\n", "b\n")),
        ChangedFile(path="big\x1b[2J.bin", change="created", note="binary"),
        *(ChangedFile(path=f"old/{number}", change="deleted", note="binary") for number in range(5)),
    ),
    more_changed=7,
)


def test_the_files_that_a_command_changed_are_named_below_the_call() -> None:
    block = tool_block(display=CHANGED)
    assert rows(block)[1] == "    changed src/cart.py; created big.bin; deleted 5 files; 7 more"
    assert extent(block, "folded")[0] == 2


def test_a_command_unfolds_to_the_lines_that_it_changed() -> None:
    unfolded = [row.strip() for row in rows(tool_block(display=CHANGED), replace(SCENE, unfolded=True))]
    assert unfolded[2:10] == [
        "$ make",
        "made",
        "± src/cart.py   changed   +1 −1",
        "1 - a",
        "1 + b",
        "± big.bin   created   binary",
        "± old/0   deleted   binary",
        "± old/1   deleted   binary",
    ]
    assert unfolded[-1] == "… 7 more changed"


@pytest.mark.parametrize(
    ("changes", "glyph", "words"),
    [
        ({"status": "running"}, "●", "12 s"),
        ({"status": "asks"}, "?", "waits for you"),
        ({"status": "failed", "exit_code": 1}, "✗", "exit 1"),
        ({"status": "denied"}, "–", "denied"),
        ({"exit_code": 0, "read_only": True}, "✓", "read-only"),
        ({"status": "failed", "exit_code": 1, "outside": True}, "✗", "exit 1, outside the sandbox"),
        ({"status": "stopped"}, "■", "stopped by you"),
        ({"status": "not_run"}, "–", "not run"),
        ({"display": DIFF}, "✓", "+3 −1"),
    ],
)
def test_every_state_of_a_call_has_a_glyph_and_a_word(
    changes: dict[str, object], glyph: str, words: str
) -> None:
    (row,) = rows(tool_block(**changes))  # type: ignore[arg-type]
    assert row[2] == glyph
    assert words in row


def test_a_running_call_shows_its_newest_lines() -> None:
    running = tool_block(status="running", tail="one\ntwo\nthree\nfour\n")
    assert rows(running)[1:] == ["    ┊ two", "    ┊ three", "    ┊ four"]


def test_the_dot_of_a_running_call_breathes() -> None:
    assert rows(tool_block(status="running"), replace(SCENE, breath=True))[0][2] == "•"


def test_an_unfolded_edit_shows_its_diff() -> None:
    shown = rows(tool_block(name="edit_file", display=DIFF), replace(SCENE, unfolded=True))
    assert shown[0][77] == "▾"
    assert shown[1] == "       31   def total(self) -> Money:"
    assert shown[2] == "       32 -     return self.discount(net + self.tax(net))"
    assert shown[5] == "        … 22 lines"


def test_a_diff_is_copied_with_signs_and_without_numbers() -> None:
    lines = render_display(DIFF, 72, SCENE.look.styles, UNICODE)
    assert lines[1].text[lines[1].skip :].rstrip() == "-     return self.discount(net + self.tax(net))"
    assert source(tool_block(display=DIFF)).startswith(" def total(self) -> Money:\n-    return")


@pytest.mark.parametrize(
    "display",
    [
        DIFF,
        TextDisplay(text="no such file\nat all"),
        TodoDisplay(items=(TodoItem(text="long " * 30, status="done"), TodoItem(text="b"))),
        FileDisplay(path="a.py", text="x = 1\n\ty = 2\n", first_line=99_999),
        CommandDisplay(command="make " + "x" * 200, output="long " * 50 + "\nend\n", exit_code=2),
        FileListDisplay(lines=("a.py", "b.py"), more=12),
        FileListDisplay(lines=()),
        {"an": "unknown kind"},
    ],
    ids=lambda display: type(display).__name__,
)
@pytest.mark.parametrize("width", [20, 72])
def test_every_display_fills_its_width_exactly(display: Display, width: int) -> None:
    for line in render_display(display, width, SCENE.look.styles, ASCII, ground="background"):
        assert line.cells == width


def test_without_grounds_a_diff_row_takes_the_colour_of_its_sign() -> None:
    plain = look(theme="keen-ansi16")
    lines = render_display(DIFF, 72, plain.styles, UNICODE)
    code = next(part for part in lines[1].segments if "return" in part.text)
    assert code.style and code.style.color == plain.styles("del").color


def test_the_users_words_are_bold_behind_the_prompt_glyph() -> None:
    lines = draw_block(UserBlock(turn=1, text="fix it\nnow"), SCENE)
    assert [line.text for line in lines] == ["  › fix it", "    now"]
    assert lines[0].segments[-1].style == SCENE.look.styles("text", bold=True)


def test_reasoning_is_one_row_until_it_is_unfolded() -> None:
    block = ReasoningBlock(turn=1, step=1, text="The test first.", seconds=6.0, open=False)
    assert rows(block)[0].startswith("  … thought for 6.0 s")
    assert rows(block, replace(SCENE, unfolded=True))[1:] == ["    The test first."]
    thinking = replace(block, open=True)
    assert rows(thinking, replace(SCENE, last=True))[0].startswith("  … thinking for 6 s")


def test_streaming_text_ends_with_the_caret_only_while_it_is_the_last() -> None:
    block = text_block("so far", open=True)
    assert rows(block, replace(SCENE, last=True)) == ["    so far▌"]
    assert rows(block) == ["    so far"]
    code = text_block("```python\nx = 1", open=True)
    (line,) = draw_block(code, replace(SCENE, last=True))
    assert line.text.startswith("      x = 1▌") and line.cells == 76


def test_a_long_tool_name_is_cut_and_keeps_off_the_target() -> None:
    (row,) = rows(tool_block(name="mcp_weather_lookup", target="Berlin"))
    assert row[4:16] == "mcp_… Berlin"


def test_lost_text_keeps_its_place_and_says_that_it_is_lost() -> None:
    lines = draw_block(text_block("**cut** of", lost=True), SCENE)
    assert [line.text for line in lines] == [
        "  ┊ cut of",
        "  ┊ cut here: these words are not carried over",
    ]
    style = lines[0].segments[-1].style
    assert style is not None and style.italic


def test_the_incomplete_block_tells_what_is_kept_and_the_two_keys() -> None:
    lines = draw_block(incomplete_block(), replace(SCENE, last=True))
    assert [line.text.rstrip() for line in lines] == [
        "▌",
        "▌ ▲ Turn incomplete   no connection to the model server after 41 s",
        "▌",
        "▌   kept       4 calls, 1 changed file, 18.2 kB",
        "▌   not kept   the 17 words above that were still streaming",
        "▌",
        "▌    ctrl+r    retry     continues from the last result; no call runs twice",
        "▌    ctrl+x    discard   asks first; the changed file stays remembered",
        "▌",
    ]
    assert {line.cells for line in lines} == {80}
    assert [line.chip for line in lines].index(True) == 6


@pytest.mark.parametrize("width", [40, 80, 120])
def test_the_incomplete_block_fits_any_width(width: int) -> None:
    lines = draw_block(incomplete_block(), BlockContext(look=look(width), now=0.0, last=True))
    assert {line.cells for line in lines} == {width}


def test_a_settled_end_is_one_row() -> None:
    block = incomplete_block()
    retried = rows(replace(block, settled="retried"))
    assert retried == [_folding("  ▲ no connection after 41 s   4 calls kept   retried")]
    abandoned = rows(replace(block, settled="abandoned"))
    assert abandoned == [_folding("  – turn 1 abandoned   no connection after 41 s   1 file remembered")]
    assert len(rows(block)) == 1


def _folding(row: str) -> str:
    """The row with the mark that it unfolds."""
    return f"{row.ljust(77)}▸"


def test_a_settled_end_unfolds_to_what_was_kept_then() -> None:
    block = replace(with_unknown("make deploy"), settled="retried")
    shown = rows(block, replace(SCENE, unfolded=True))
    assert shown[0].startswith("  ▲ no connection after 41 s   4 calls kept   1 in doubt   retried")
    assert shown[1:] == [
        "    kept       4 calls, 1 changed file, 18.2 kB",
        "    not kept   the 17 words above that were still streaming",
        "    unknown    effects of bash make deploy",
    ]


def test_the_calls_with_unknown_effects_are_listed_before_the_keys() -> None:
    shown = rows(with_unknown("make deploy", "npm publish"), replace(SCENE, last=True))
    assert shown[5:7] == [
        "▌   unknown    effects of bash make deploy",
        "▌              effects of bash npm publish",
    ]
    assert "ctrl+r" in shown[8]
    many = rows(with_unknown(*map(str, range(9))), replace(SCENE, last=True))
    assert "▌              effects of 4 more calls" in many


def test_without_controls_the_incomplete_block_has_no_keys() -> None:
    shown = rows(with_unknown("make deploy"), replace(SCENE, last=True, has_ways_on=False))
    assert "▌   unknown    effects of bash make deploy" in shown
    assert not any("ctrl+" in row for row in shown)


def with_unknown(*commands: str) -> EndBlock:
    """An incomplete turn in which these commands were cut off."""
    calls = tuple(UnknownCall(id=command, name="bash", target=command) for command in commands)
    block = incomplete_block()
    assert isinstance(block.end, TurnIncomplete)
    return replace(block, end=replace(block.end, unknown_calls=calls))


def test_an_error_is_three_rows_with_the_key_that_sends_again() -> None:
    shown = rows(error_block(), replace(SCENE, last=True))
    assert shown[0] == "▌ ✗ Turn failed   the key was refused"
    assert shown[1] == "▌   no key (401)"
    assert shown[2].startswith("▌    ctrl+r    send again")
    assert len(shown) == 3
    assert rows(replace(error_block(), settled="retried"))[0].endswith("sent again")


@pytest.mark.parametrize("reason", ["auth", "provider"])
def test_a_model_that_does_not_answer_can_be_exchanged(reason: EndReason) -> None:
    end = error_block().end
    assert isinstance(end, TurnError)
    block = EndBlock(end=replace(end, reason=reason))
    keys = rows(block, replace(SCENE, last=True))[2]
    assert keys == "▌    ctrl+r    send again   f2 choose another model   ctrl+x edit message"
    other = EndBlock(end=replace(end, reason="cut"))
    assert "f2" not in "".join(rows(other, replace(SCENE, last=True)))


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_the_keys_of_a_failed_turn_are_all_there_at_any_width(width: int) -> None:
    lines = draw_block(error_block(), BlockContext(look=look(width), now=12.0, last=True))
    assert all(line.cells <= width for line in lines)
    assert [" ctrl+r    send again" in line.text for line in lines] == [line.chip for line in lines]
    shown = "\n".join(line.text for line in lines)
    assert all(way in shown for way in ("f2 choose another model", "ctrl+x edit message"))


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_full_context_names_compact_as_the_way_on_and_then_sending_again(width: int) -> None:
    end = TurnError(turn=1, attempt=1, reason="context", detail="too long (400)", seconds=0.4)
    lines = draw_block(EndBlock(end=end), BlockContext(look=look(width), now=12.0, last=True))
    shown = "\n".join(line.text for line in lines)
    for words in (" /compact    make room", "summarises earlier turns", "ctrl+r send again", "ctrl+x"):
        assert words in shown
    assert ["/compact" in line.text for line in lines] == [line.chip for line in lines]
    assert all(line.cells <= width for line in lines)


def test_an_incomplete_turn_in_a_full_context_makes_room_first() -> None:
    block = incomplete_block()
    assert isinstance(block.end, TurnIncomplete)
    full = replace(block, end=replace(block.end, reason="context"))
    lines = draw_block(full, replace(SCENE, last=True))
    ways = [
        words for line in lines if (words := line.text.split()[1:2]) in (["/compact"], ["ctrl+r"], ["ctrl+x"])
    ]
    assert ways == [["/compact"], ["ctrl+r"], ["ctrl+x"]]
    assert [line.text.split()[1] for line in lines if line.chip] == ["/compact"]


@pytest.mark.parametrize(
    ("cost", "told"), [(0.0412, "   $0.04"), (0.0042, "   $0.004"), (0.0, ""), (None, "")]
)
def test_the_end_of_a_turn_tells_what_it_cost_where_that_is_known(cost: float | None, told: str) -> None:
    done = story.done(3, memory=TurnMemory(files_changed=("a.py", "b.py")), calls=6)
    block = EndBlock(end=replace(done, seconds=52.0), cost=cost)
    assert rows(block) == [f"  ✓ turn 3 done   52 s   6 calls   2 files changed{told}"]


def test_the_end_of_a_turn_tells_what_later_turns_carry_of_it() -> None:
    events: list[Event] = [story.started(1, "go"), story.done(1, calls=2, carried=400, trace=38_400)]
    state = apply_all(UiState(), events, 0.0)
    (row,) = rows(state.live[-1])
    assert "2 calls   carries 0.4 of 38.4 kB" in row
    nothing_saved = apply_all(UiState(), [story.started(1, "go"), story.done(1, carried=9, trace=9)], 0.0)
    assert "carries" not in rows(nothing_saved.live[-1])[0]


def test_the_servers_words_stand_under_the_reason_where_they_help() -> None:
    end = incomplete_block().end
    assert isinstance(end, TurnIncomplete)
    refused = EndBlock(end=replace(end, reason="provider", detail="model\x1b[2J overloaded"))
    assert rows(refused, replace(SCENE, last=True))[2] == "▌   model overloaded"


def test_an_automatic_retry_counts_down() -> None:
    retry = RetryScheduled(turn=1, step=1, attempt=2, max_attempts=5, delay=6, reason="cut", detail="reset")
    assert rows(RetryBlock(retry=retry, due=16.0)) == [
        "  ● connection lost, trying again in 4 s   2 of 5   ctrl+r now   esc stops"
    ]


def test_a_rate_limit_that_is_waited_for_is_told_in_the_servers_words() -> None:
    retry = RetryScheduled(
        turn=1,
        step=1,
        attempt=2,
        max_attempts=4,
        delay=60,
        reason="provider",
        detail="host: slow\x1b[2J down (429).",
    )
    said = " ".join("".join(rows(RetryBlock(retry=retry, due=70.0))).split())
    assert said.startswith("● host: slow down (429), trying again in 58 s")
    assert said.endswith("2 of 4 ctrl+r now esc stops")


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_the_first_connection_that_fails_says_why_and_names_the_key_of_the_picker(width: int) -> None:
    why = "Can't reach 127.0.0.1:11434: connection refused. Is the server running?"
    retry = RetryScheduled(turn=1, step=1, attempt=2, max_attempts=4, delay=6, reason="network", detail=why)
    assert "Can't reach 127.0.0.1:11434: connection refused" in rows(RetryBlock(retry=retry, due=16.0))[0]
    end = TurnError(turn=1, attempt=1, reason="network", detail=why, seconds=3.0)
    lines = draw_block(EndBlock(end=end), BlockContext(look=look(width), now=12.0, last=True))
    said = " ".join(" ".join(line.text.removeprefix("▌") for line in lines).split())
    assert "Turn failed no connection to the model server" in said
    assert why in said and "f2 choose another model" in said
    assert all(line.cells <= width for line in lines)


def test_every_reason_has_words() -> None:
    assert set(REASONS) == set(SHORT_REASONS)


def test_blank_rows_stand_between_blocks_but_not_between_calls() -> None:
    call, text = tool_block(), text_block("x")
    thought = ReasoningBlock(turn=1, step=1, text="", seconds=1.0)
    assert gap_before(None, call, before_unfolded=False) == 0
    assert gap_before(call, call, before_unfolded=False) == 0
    assert gap_before(call, call, before_unfolded=True) == 1
    assert gap_before(thought, text, before_unfolded=False) == 0
    assert gap_before(call, text, before_unfolded=False) == 1


def test_a_notice_is_plain_words() -> None:
    assert rows(NoticeBlock(turn=1, text="the reply was cut at the output limit")) == [
        "    the reply was cut at the output limit"
    ]


def test_in_a_wide_terminal_the_ends_of_a_row_stay_together() -> None:
    context = replace(SCENE, look=look(width=200))
    (row,) = rows(tool_block(target="x" * 300, summary="71 passed"), context)
    assert len(row) == 108
    assert row[107] == "▸"
    reasoning = ReasoningBlock(turn=1, step=1, text="Hm.", seconds=1.0, open=False)
    assert rows(reasoning, context)[0][107] == "▸"


def test_in_a_narrow_terminal_the_words_of_an_incomplete_turn_are_broken_not_cut() -> None:
    shown = rows(incomplete_block(), replace(SCENE, look=look(width=60), last=True))
    words = " ".join(" ".join(row.strip("▌ ") for row in shown).split())
    assert "…" not in words
    assert "continues from the last result; no call runs twice" in words
    assert "the 17 words above that were still streaming" in words


def test_while_something_is_asked_the_chip_is_not_filled() -> None:
    context = replace(SCENE, last=True)
    assert sum(line.chip for line in draw_block(incomplete_block(), context)) == 1
    asked = draw_block(incomplete_block(), replace(context, asked=True))
    filled = SCENE.look.styles("on-wait", on="wait-fill", bold=True)
    assert not any(line.chip or filled in [segment.style for segment in line.segments] for line in asked)


def test_a_command_does_not_name_its_tool_twice() -> None:
    assert call_line("bash", "bash run.sh") == "bash run.sh"
    assert call_line("bash", "make all") == "bash make all"
    assert cut_target("bash", "bash run.sh --all", 8) == "run.sh…"


def test_a_call_that_asks_while_its_read_only_run_goes_on_keeps_its_newest_lines() -> None:
    asking = tool_block(status="asks", tail="one\ntwo\nthree\nfour\n")
    assert rows(asking)[1:] == ["    ┊ two", "    ┊ three", "    ┊ four"]
