"""Rows, columns and numbers of the context view, and TurnMemory as entries."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from rich.style import Style

from keen_tui.domain.facts.command_failed import CommandFailed
from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.domain.facts.note import Note
from keen_tui.domain.facts.skill_used import SkillUsed
from keen_tui.domain.messages import TurnMemory
from keen_tui.domain.reports import ContextPart
from keen_tui.frontends.tui.look.glyphs import ASCII, UNICODE
from keen_tui.frontends.tui.look.themes import Styles, load_themes
from keen_tui.frontends.tui.pages.context.columns import PolicyView, columns_of, saving, share, thousands
from keen_tui.frontends.tui.pages.context.editor import MemoryEntry, entries_of, memory_of, told
from keen_tui.frontends.tui.pages.context.head import ContextHead
from keen_tui.frontends.tui.pages.context.pane import PartPane
from keen_tui.frontends.tui.pages.context.parts import PartTable, spaced
from keen_tui.frontends.tui.pages.context.reader import ReaderPage
from keen_tui.frontends.tui.pages.context.words import text_rows
from tests.support import contexts

STYLES = Styles(load_themes()[0]["keen-dark"])
MEMORY = TurnMemory(
    files_changed=("a.py", "b.py"),
    failed_bash=(CommandFailed(command="make", exit_code=2),),
    notes=("frozen until May",),
)


@pytest.mark.parametrize(
    ("count", "written"),
    [
        (0, "–"), (1, "<0.1k"), (49, "<0.1k"), (50, "0.1k"), (1_000, "1.0k"), (10_440, "10.4k"),
        (99_949, "99.9k"), (99_950, "100k"), (2_200_000, "2.2M"),
    ],
)  # fmt: skip
def test_tokens_of_a_column_are_all_in_thousands(count: int, written: str) -> None:
    assert thousands(count, UNICODE) == written


def test_shares_and_savings_are_whole_percents() -> None:
    assert (share(10_400, 200_000), share(10, 200_000), share(0, 200_000)) == ("5 %", "<1 %", "0 %")
    assert share(2_200_000, 200_000) == "1100 %"
    assert saving(41_500, 106_800, UNICODE) == "−61 %"
    assert saving(41_500, 106_800, ASCII) == "-61 %"
    assert saving(100, 100, UNICODE) == saving(0, 0, UNICODE) == ""


@pytest.mark.parametrize("width", [100, 120, 160, 200, 250])
def test_wide_pages_have_a_column_for_each_policy_up_to_the_margin(width: int) -> None:
    columns = columns_of(width, 0)
    assert columns.policies == (0, 1, 2)
    assert columns.left_end + 3 * (columns.cells + 4) == width - 2
    assert columns.left_end >= 34


@pytest.mark.parametrize("width", [99, 80, 40])
def test_narrow_pages_have_the_chosen_policy_alone(width: int) -> None:
    assert columns_of(width, 2).policies == (2,)


def test_at_120_the_columns_stand_where_the_picture_has_them() -> None:
    table = PartTable(STYLES, UNICODE, PolicyView.of(contexts.pictured(), 0))
    row = next(row.plain for row in table.rows(120, 20) if "tool definitions" in row.plain)
    assert row.index("tool") == 4
    assert row[:52].endswith("11.8 kB")
    assert row[56] == "━" and row[70:74] == "3.0k"
    assert row[78] == "━" and row[92:96] == "3.0k"
    assert row[100] == "━" and row[114:118] == "3.0k"


@pytest.mark.parametrize("width", [30, 40, 60, 80, 100, 120, 200])
@pytest.mark.parametrize("height", [1, 4, 12, 24, 60])
def test_no_row_is_wider_than_the_page(width: int, height: int) -> None:
    view = PolicyView.of(contexts.pictured(), 1)
    pane = PartPane(STYLES, UNICODE)
    pane.show(view.report.parts[5], 1)
    for rows in (
        ContextHead(STYLES, UNICODE, view).rows(width, height),
        PartTable(STYLES, UNICODE, view).rows(width, height),
        pane.rows(width, height),
    ):
        assert max(row.cell_len for row in rows) <= width


def test_all_rows_share_the_scale_of_the_largest_part() -> None:
    view = PolicyView.of(contexts.pictured(), 0)
    assert view.largest == 9_600
    rows = [row.plain for row in PartTable(STYLES, UNICODE, view).rows(120, 20)]
    whole = next(row for row in rows if "turn 3" in row)
    assert whole[100:111] == "━" * 11
    assert sum("━" * 11 in row for row in rows) == 1


def test_amber_is_pending_and_teal_the_policy_in_use() -> None:
    rows = PartTable(STYLES, UNICODE, PolicyView.of(contexts.pictured(), 0)).rows(120, 20)

    def colours(title: str) -> list[object]:
        row = next(row for row in rows if title in row.plain)
        return [span.style for span in row.spans if set(row.plain[span.start : span.end]) <= set("━╸")]

    soft = STYLES("soft")
    assert colours("pending") == [STYLES("wait"), soft, soft]
    assert colours("turn 2") == [STYLES("accent"), soft, soft]


def test_the_past_stands_apart_from_what_stays_and_from_what_is_now() -> None:
    parts = contexts.pictured().parts
    drawn = [part and part.title for part in spaced(parts)]
    assert drawn == [
        "system prompt", "tool definitions", "project instructions", None,
        "turn 1", "turn 2", "turn 3", None,
        "turn 4", "pending", "your draft", None,
        "frame",
    ]  # fmt: skip


def test_a_thousand_turns_are_drawn_as_few_rows_with_the_chosen_one_in_view() -> None:
    table = PartTable(STYLES, UNICODE, PolicyView.of(contexts.long(1_000), 0))
    for step in (-500, 3, -1, 400, -2_000, 5_000):
        table.move(step)
        rows = [row.plain for row in table.rows(120, 20)]
        assert len(rows) == 20
        assert table.chosen is not None
        marked = [row[4:].split("   ")[0].strip() for row in rows if row.startswith("▌")]
        assert marked == [table.chosen.title]
        assert rows[-1].strip().startswith("total")


def test_rows_out_of_view_cost_nothing() -> None:
    class Counting(Styles):
        asked = 0

        def __call__(self, *role: Any, **how: Any) -> Style:
            self.asked += 1
            return super().__call__(*role, **how)

    def styles_asked(turns: int) -> int:
        styles = Counting(load_themes()[0]["keen-dark"])
        PartTable(styles, UNICODE, PolicyView.of(contexts.long(turns), 0)).rows(120, 20)
        return styles.asked

    assert 20 < styles_asked(1_000) == styles_asked(100)


def test_the_part_that_was_chosen_stays_it_when_others_come_before_it() -> None:
    table = PartTable(STYLES, UNICODE, PolicyView.of(contexts.long(10), 0))
    table.move(-5)
    assert table.chosen and table.chosen.title == "turn 5"
    parts = (contexts.part("tools", "tool definitions", "", (100, 20)), *contexts.long(12).parts)
    table.show(PolicyView.of(contexts.report(parts), 0))
    assert table.chosen.title == "turn 5"
    table.show(PolicyView.of(contexts.report(parts[:2]), 0))
    assert table.chosen.title == "tool definitions"


def test_nothing_to_send_is_drawn_without_a_fall() -> None:
    view = PolicyView.of(contexts.report((), window=None), 0)
    table = PartTable(STYLES, UNICODE, view)
    assert table.chosen is None
    assert table.rows(120, 20)[-1].plain.strip().startswith("total")
    head = "\n".join(row.plain for row in ContextHead(STYLES, UNICODE, view).rows(120, 4))
    assert "window not known" in head and "%" not in head


def pane_rows(part: ContextPart, height: int = 12) -> list[str]:
    pane = PartPane(STYLES, UNICODE)
    pane.show(part, 0)
    return [row.plain.rstrip() for row in pane.rows(60, height)]


def test_what_is_left_out_stays_in_view_below_a_long_text() -> None:
    text = "\n".join(f"line {number}" for number in range(100))
    rows = pane_rows(contexts.turn(1, "go", (9_000, 2_000), text=text, left_out="6 calls"))
    assert rows[-1] == "    left out: 6 calls"
    assert "    ↓ more" in rows and len(rows) <= 12


def test_the_users_words_have_their_sign_before_the_text_edge() -> None:
    part = contexts.turn(1, "go", (90, 20), text="› do this\n\n› and that\n\nDone.")
    assert pane_rows(part)[3:] == ["  › do this", "", "  › and that", "", "    Done."]


def test_empty_parts_say_why() -> None:
    assert "    the composer is empty" in pane_rows(contexts.part("draft", "your draft", "empty", (0, 0)))
    assert "    not sent" in pane_rows(contexts.turn(1, "go", (0, 0)))


def test_a_line_without_end_is_broken_in_pieces() -> None:
    rows = list(text_rows("x" * 100_000, 90, STYLES("text")))
    assert sum(len(row.plain) for row in rows) == 100_000
    assert max(row.cell_len for row in rows) == 90


def test_a_long_text_is_broken_only_as_far_as_it_is_read() -> None:
    page = ReaderPage(STYLES, UNICODE, "\n".join(f"line {number}" for number in range(50_000)))
    first = [row.plain.strip() for row in page.rows(80, 20)]
    assert first[0] == "line 0" and len(first) == 20
    assert not page.whole
    assert page.place == "rows 1 to 20"
    page.move(1_000_000)
    assert page.rows(80, 20)[-1].plain.strip() == "line 49999"
    assert page.place == "rows 49981 to 50000 of 50000"


def test_a_short_text_is_counted_and_does_not_scroll() -> None:
    page = ReaderPage(STYLES, UNICODE, "one\ntwo")
    page.rows(80, 20)
    page.move(5)
    assert (page.first, page.place) == (0, "2 rows")


def test_memory_becomes_entries_and_entries_memory() -> None:
    entries = entries_of(MEMORY)
    assert [entry.what for entry in entries] == [
        FileChanged(path="a.py"), FileChanged(path="b.py"), CommandFailed(command="make", exit_code=2),
        Note("frozen until May"),
    ]  # fmt: skip
    assert memory_of(entries, MEMORY) == MEMORY
    kept = [replace(entries[0], forgotten=True), *entries[1:], MemoryEntry(Note("new"), added=True)]
    assert memory_of(kept, MEMORY) == TurnMemory(
        files_changed=("b.py",), failed_bash=MEMORY.failed_bash, notes=("frozen until May", "new")
    )
    assert told(3, kept) == "turn 3   1 forgotten   1 note added"


def test_a_skill_in_use_can_be_unloaded() -> None:
    memory = TurnMemory(files_changed=("a.py",), skills=(SkillUsed(name="pdf", bytes=4200),))
    path, skill = entries_of(memory)
    assert memory_of([path, skill], memory) == memory
    assert memory_of([path, replace(skill, forgotten=True)], memory) == TurnMemory(files_changed=("a.py",))
