"""The in-band policy's filter: no word of a block reaches the screen, whatever the model wrote."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keen_tui.memory.inband import IN_BAND_PROMPT, TAG_LIMIT, InBandFilter

BLOCK = "<keen_memory>\n- secret\n</keen_memory>"
OPEN_TAGS = (
    "<keen_memory>",
    "<KEEN_Memory>",
    "< keen_memory >",
    '<keen_memory x="1">',
    "<keen_memory\n",
    "<keen_memory/>",
)
CLOSE_TAGS = (
    "</keen_memory>",
    "</Keen_Memory>",
    "< / keen_memory >",
    '</keen_memory x="1">',
    "</keen_memory\n>",
)
LOOK_ALIKES = (
    "<",
    "</",
    "< ",
    "<keen",
    "<keen_memoryx>",
    "</keen_memory-2>",
    "<b>",
    "a < b",
    "<<",
    "keen_memory>",
    ">",
)

plain = st.text("ab <>/\n", max_size=8)
pieces = st.lists(
    st.sampled_from((*OPEN_TAGS, *CLOSE_TAGS, *LOOK_ALIKES)) | plain | st.text(max_size=4), max_size=12
)


def visible(text: str) -> str:
    """The visible part of a whole reply."""
    reply = InBandFilter()
    return reply.feed(text) + reply.finish()


def streamed(text: str, cuts: Sequence[int]) -> list[str]:
    """What each piece lets through when `text` comes in pieces that end at `cuts`, and what the end does."""
    reply, ends = InBandFilter(), [*sorted(cut for cut in cuts if cut <= len(text)), len(text)]
    starts = [0, *ends[:-1]]
    return [*(reply.feed(text[a:b]) for a, b in zip(starts, ends, strict=True)), reply.finish()]


@pytest.mark.parametrize("open_tag", OPEN_TAGS)
@pytest.mark.parametrize("close_tag", CLOSE_TAGS)
def test_a_block_is_hidden_with_the_blank_lines_before_it(open_tag: str, close_tag: str) -> None:
    assert visible(f"Done.\n\n{open_tag}\n- secret\n{close_tag}\n") == "Done."


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("Done.\n\n<keen_memory>\n- secret", "Done.", id="no close tag"),
        pytest.param("Done.</keen_memory> More.", "Done. More.", id="close tag alone"),
        pytest.param(f"Done.\n{BLOCK}\nMore.", "Done.\n\nMore.", id="text behind it"),
        pytest.param(f"{BLOCK} and {BLOCK}\n{BLOCK}", " and", id="several blocks"),
        pytest.param("a<keen_memory>b<keen_memory>c</keen_memory>d</keen_memory>e", "ae", id="nested"),
        pytest.param("a<keen_memory>b<keen_memory>c</keen_memory>d", "a", id="nested, one left open"),
        pytest.param("a<keen_memory\nb</keen_memory>c", "ac", id="open tag without its end"),
        pytest.param("a<keen_memory>b</keen_memory c", "a", id="close tag without its end"),
        pytest.param("a\n<keen_mem", "a", id="open tag cut off by the end"),
        pytest.param("a<keen_memory>b</keen_me", "a", id="close tag cut off by the end"),
        pytest.param(BLOCK, "", id="nothing else"),
    ],
)
def test_badly_written_blocks_stay_hidden(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    "text", [*LOOK_ALIKES, "if a < b:\n    <div>", "ends in blanks \n\n", "", " < keen on memory"]
)
def test_other_text_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


def test_a_tag_may_be_cut_anywhere() -> None:
    text = f"Done.\n\n{BLOCK} More."
    for cut in range(len(text)):
        assert "".join(streamed(text, [cut])) == "Done.\n\n More."


def test_text_with_angle_brackets_streams_on() -> None:
    reply = InBandFilter()
    assert reply.feed("if a <") == "if a"
    assert reply.feed(" b and c <= d: x") == " < b and c <= d: x"
    assert reply.feed("</keen_memory " + "x" * TAG_LIMIT) == "</keen_memory " + "x" * TAG_LIMIT


def test_a_long_reply_is_not_gathered() -> None:
    reply = InBandFilter()
    let_through = [reply.feed("word < ") for _ in range(1_000)]
    assert min(map(len, let_through)) >= len("word")


@given(pieces, st.lists(st.integers(0, 80)))
def test_pieces_make_no_difference(parts: list[str], cuts: list[int]) -> None:
    text = "".join(parts)
    assert "".join(streamed(text, cuts)) == visible(text)
    assert "".join(streamed(text, range(len(text)))) == visible(text)


@given(
    st.lists(
        st.tuples(
            plain,
            st.sampled_from(OPEN_TAGS),
            st.sampled_from((*LOOK_ALIKES, "")),
            st.sampled_from(CLOSE_TAGS),
        )
    )
)
def test_nothing_inside_a_block_is_shown(turns: list[tuple[str, str, str, str]]) -> None:
    text = "".join(f"{before}{start} SECRET{inside}SECRET {end}" for before, start, inside, end in turns)
    shown = visible(text)
    assert "SECRET" not in shown
    assert re.sub(r"\s", "", shown) == re.sub(r"\s", "", "".join(before for before, *_ in turns))


@given(st.text())
def test_text_without_tags_is_let_through_unchanged(text: str) -> None:
    if "keen_" not in text.lower():
        assert visible(text) == text


def test_the_prompt_shows_the_block_as_the_filter_knows_it() -> None:
    assert visible(IN_BAND_PROMPT).startswith("- When you used tools")
    assert "lasting outcomes" not in visible(IN_BAND_PROMPT.split("</keen_memory>")[0])
    assert "what is left to do" not in visible(IN_BAND_PROMPT)
