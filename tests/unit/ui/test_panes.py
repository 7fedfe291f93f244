"""Small parts of the workspace that need no screen."""

from __future__ import annotations

import re
from pathlib import Path
from unittest.mock import patch

import pytest
from msgspec.structs import replace
from rich.text import Text
from textual.binding import Binding
from textual.geometry import Size
from textual.widgets import TextArea

from keen_tui.domain.events import (
    ContextMeasured,
    Event,
    HostContacted,
    ModelChanged,
    ReasoningDelta,
    SandboxFound,
    TextDelta,
    ToolOutput,
    Usage,
)
from keen_tui.domain.messages import TokenUsage, ToolResult
from keen_tui.domain.spent import Spent
from keen_tui.frontends.shared.commands.actions import ACTIONS
from keen_tui.frontends.shared.port import FrontEndSetup
from keen_tui.frontends.tui.keys.keymap import NO_KEY, action_by_key, bindings
from keen_tui.frontends.tui.look.glyphs import UNICODE
from keen_tui.frontends.tui.look.layout import layout_of
from keen_tui.frontends.tui.look.themes import Styles, load_themes
from keen_tui.frontends.tui.panels.activity import Activity
from keen_tui.frontends.tui.screen.handlers import handlers_of
from keen_tui.frontends.tui.screen.workspace import WorkspaceScreen
from keen_tui.frontends.tui.state.reducer import apply_all
from keen_tui.frontends.tui.state.state import ToolStatus, TurnRow, UiState
from keen_tui.frontends.tui.state.trail import Trail
from keen_tui.frontends.tui.widgets.composer import Prompt
from keen_tui.frontends.tui.widgets.header import HeaderBar, branch_of
from keen_tui.frontends.tui.widgets.notes import NoticeRows
from keen_tui.frontends.tui.widgets.row_widget import spread, wrapped
from keen_tui.frontends.tui.widgets.status_bar import StatusBar
from keen_tui.frontends.tui.widgets.strip import Strip
from tests.support import story
from tests.support.fake_session import FakeSession
from tests.support.screen import tool_block

STYLES = Styles(load_themes()[0]["keen-dark"])


def workspace_screen(folder: Path) -> WorkspaceScreen:
    session = FakeSession(folder)
    return WorkspaceScreen(FrontEndSetup(session=session, controls=session), STYLES, UNICODE)


def test_every_bound_action_does_something(tmp_path: Path) -> None:
    screen = workspace_screen(tmp_path)
    deeds = handlers_of(screen, screen.parts)
    for action in ACTIONS:
        if action.where in ("anywhere", "search") and action.bound:
            assert action.id in deeds
        if action.where == "composer" and action.bound:
            assert hasattr(Prompt, f"action_{action.id}"), action.id
        if action.slash or action.listed:
            assert action.id in deeds


def test_only_actions_of_the_registry_do_something(tmp_path: Path) -> None:
    screen = workspace_screen(tmp_path)
    deeds = handlers_of(screen, screen.parts)
    assert set(deeds) <= {action.id for action in ACTIONS}


def test_no_key_of_a_place_does_two_things() -> None:
    anywhere = [key for binding in bindings("anywhere") for key in binding.key.split(",") if key != NO_KEY]
    keys = [*anywhere, *action_by_key("composer")]
    assert len(keys) == len(set(keys))


def test_keys_of_the_editor_that_we_use_ourselves_do_what_we_say() -> None:
    theirs = {
        key for binding in TextArea.BINDINGS if isinstance(binding, Binding) for key in binding.key.split(",")
    }
    assert {"ctrl+x", "ctrl+d", "pageup"} <= theirs
    assert action_by_key("composer")["ctrl+d"] == "leave_or_delete"


@pytest.mark.parametrize(
    ("size", "wide", "low", "flat", "tiny", "columns"),
    [
        ((200, 60), True, False, False, False, 52),
        ((160, 50), True, False, False, False, 48),
        ((120, 40), True, False, False, False, 40),
        ((100, 30), True, False, False, False, 36),
        ((99, 30), False, False, False, False, 40),
        ((80, 19), False, False, True, False, 40),
        ((80, 15), False, True, True, False, 40),
        ((40, 10), False, True, True, False, 40),
        ((39, 10), False, True, True, True, 39),
        ((120, 9), True, True, True, True, 40),
    ],
)
def test_what_is_shown_follows_from_the_size(
    size: tuple[int, int], wide: bool, low: bool, flat: bool, tiny: bool, columns: int
) -> None:
    shape = layout_of(Size(*size))
    assert (shape.wide, shape.low, shape.flat, shape.tiny, shape.sidebar_columns) == (
        wide, low, flat, tiny, columns,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("columns", "wanted", "gets"),
    [(120, 44, 44), (120, 90, 60), (120, 4, 28), (200, 90, 90), (80, 60, 60), (50, 60, 50), (80, 4, 28)],
)
def test_the_sidebar_is_as_wide_as_the_user_wants_where_there_is_room(
    columns: int, wanted: int, gets: int
) -> None:
    assert layout_of(Size(columns, 40), wanted).sidebar_columns == gets


def test_the_branch_is_read_from_the_folder_or_one_above_it(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/fix/totals\n")
    (tmp_path / "src").mkdir()
    assert branch_of(tmp_path) == branch_of(tmp_path / "src") == "fix/totals"


def test_a_detached_head_shows_the_start_of_its_commit(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("741c86e1234567890\n")
    assert branch_of(tmp_path) == "741c86e1"


def test_a_worktree_is_followed_to_its_head(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "HEAD").write_text("ref: refs/heads/side\n")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / ".git").write_text("gitdir: ../store\n")
    assert branch_of(tmp_path / "tree") == "side"


def test_a_damaged_repository_has_no_branch(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert branch_of(tmp_path) == ""


MODEL = ModelChanged(model="m", server="s", effort="", context_window=200_000)


def status(state: UiState, width: int, *, chip_in_view: bool = True) -> str:
    bar = StatusBar(STYLES, UNICODE)
    bar.show(replace(state, model=MODEL), chip_in_view=chip_in_view, pane_keys=(), overlay_open=False)
    return bar.rows(width, 1)[0].plain


def test_the_status_bar_gives_up_totals_first_and_keeps_mode_meter_and_badge() -> None:
    state = apply_all(UiState(), [*story.discount_turn(1), *story.edit(1, "a"), story.incomplete(1)], 1.0)
    whole = status(state, 120)
    assert "↑9.8k ↓600" in whole
    assert "10.4k of 200k" in whole
    narrow = status(state, 64)
    assert "↑" not in narrow
    for part in ("ask", "5 %", "▲ pending: 4 calls", "f1 help"):
        assert part in narrow
    assert "ctrl+r" not in narrow, "the transcript names the key"
    assert "ctrl+r retry" in status(state, 64, chip_in_view=False)


def test_the_status_bar_says_in_a_word_what_commands_run_in() -> None:
    assert "sandbox" not in status(UiState(), 120), "before it is known nothing is said"
    assert "ask   sandbox bubblewrap" in status(UiState(sandbox=SandboxFound(name="bubblewrap")), 120)
    none = UiState(sandbox=SandboxFound(name="", reason="No sandbox: why."), context_tokens=10_000)
    assert "ask   no sandbox   context" in status(none, 120)
    assert "no sandbox" in status(none, 50), "what is missing is said where there is little room too"
    found = replace(none, sandbox=SandboxFound(name="bubblewrap"))
    assert "sandbox" not in status(found, 50) and "5 %" in status(found, 50)


def test_in_a_narrow_status_bar_tokens_go_first_then_cost_then_the_sandbox() -> None:
    state = UiState(
        sandbox=SandboxFound(name="bubblewrap"),
        context_tokens=10_000,
        spent=Spent(input_tokens=10_000, output_tokens=500, cost=0.04),
    )
    rows = [status(state, width) for width in range(120, 50, -1)]
    kept = [[part in row for part in ("↑10k", "$0.04", "sandbox", "5 %", "ask")] for row in rows]
    assert all(kept[0])
    assert kept == sorted(kept, key=sum, reverse=True), "what went does not come back"
    assert [sum(column) for column in zip(*kept, strict=True)] == sorted(map(sum, zip(*kept, strict=True)))
    assert kept[-1] == [False, False, False, True, True]


@pytest.mark.parametrize("name", ["bubblewrap", ""])
def test_the_meter_has_room_in_the_smallest_terminal(name: str) -> None:
    idle = UiState(sandbox=SandboxFound(name=name, reason="" if name else "Why."), context_tokens=10_000)
    for state in (idle, replace(idle, phase="waiting")):
        row = status(state, 40)
        assert "5 %" in row and len(row) <= 40
        assert ("no sandbox" in row) == (not name)


def test_without_a_known_window_only_the_tokens_are_told() -> None:
    bar = StatusBar(STYLES, UNICODE)
    state = apply_all(UiState(), story.discount_turn(1), 1.0)
    bar.show(state, chip_in_view=True, pane_keys=(), overlay_open=False)
    row = bar.rows(120, 1)[0].plain
    assert "context 10.4k" in row
    assert "%" not in row


def test_cost_and_cached_share_are_told_and_given_up_in_their_order() -> None:
    tokens = TokenUsage(input_tokens=10_000, output_tokens=600, cached_tokens=8_200)
    used = Usage(turn=1, step=1, tokens=tokens, cost=0.0412)
    state = apply_all(
        UiState(), [story.started(1, "go"), used, ContextMeasured(tokens=10_600), story.done(1)], 1.0
    )
    whole = status(state, 120)
    assert "↑10k (82 % cached) ↓600   $0.04" in whole
    narrower = status(state, 84)
    assert "↑" not in narrower and "$0.04" in narrower
    assert "$" not in status(state, 52)
    unknown = apply_all(UiState(), [story.started(1, "go"), replace(used, cost=None), story.done(1)], 1.0)
    assert "cost" not in status(unknown, 120), "a price that nobody knows is no news"
    assert "cost" not in status(UiState(), 120), "before anything was reported there is nothing to know"


def test_the_status_bar_is_drawn_again_only_for_what_stands_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    monkeypatch.setattr(StatusBar, "changed", lambda _: drawn.append(1))
    bar = StatusBar(STYLES, UNICODE)
    first = UiState(phase="tool", phase_since=1.0)
    for state in (first, replace(first, phase_since=2.0, last_word_at=2.0), replace(first, mode="plan")):
        bar.show(state, chip_in_view=True, pane_keys=(), overlay_open=False)
    assert len(drawn) == 2


def test_the_header_names_the_model_that_answers_now() -> None:
    header = HeaderBar(STYLES, UNICODE, folder=Path("/x"))
    assert header.rows(80, 1)[0].plain.strip().startswith("keen")
    header.show_model(replace(MODEL, model="claude-opus-5", effort="high", server="api.anthropic.com"))
    assert header.rows(80, 1)[0].plain.rstrip().endswith("claude-opus-5  high  api.anthropic.com")


def pane(kind: type[Activity] | type[Strip], state: UiState, now: float, width: int) -> str:
    drawn = kind(STYLES, UNICODE, clock=lambda: now)
    drawn.show(state)
    return "\n".join(row.plain for row in drawn.rows(width, 20))


@pytest.mark.parametrize("status", ["running", "done"])
def test_activity_names_the_hosts_below_the_call(status: ToolStatus) -> None:
    contact = HostContacted(turn=1, id="call", host="a.example")
    block = replace(tool_block(status=status), contacts=(contact,))
    shown = pane(Activity, UiState(turns=Trail((TurnRow(turn=1, title="go"),)), live=(block,)), 1.0, 40)
    assert "  network: a.example" in shown


@pytest.mark.parametrize("kind", [Activity, Strip])
def test_a_long_path_that_a_call_acts_on_keeps_its_name(kind: type[Activity] | type[Strip]) -> None:
    call = story.tool_started(1, "c", "read_file", "src/shop/orders/returns/money.py")
    state = apply_all(UiState(), [story.started(1, "go"), call], 1.0)
    assert "…/returns/money.py" in pane(kind, state, 1.0, 40)


@pytest.mark.parametrize("kind", [Activity, Strip])
def test_waiting_for_the_model_is_said_with_its_length(kind: type[Activity] | type[Strip]) -> None:
    state = apply_all(UiState(), [story.started(1, "go")], 100.0)
    assert re.search(r"● waiting for the model {3,}12 s", pane(kind, state, 112.0, 80))
    assert re.search(r"● waiting for the model {3,}1:30", pane(kind, state, 190.0, 80))


@pytest.mark.parametrize("kind", [Activity, Strip])
@pytest.mark.parametrize(
    "again", [story.started(1, None, attempt=2, recovering=4), story.started(2, "go on", recovering=4)]
)
def test_a_turn_that_goes_on_counts_the_time_before_its_end(
    kind: type[Activity] | type[Strip], again: Event
) -> None:
    cut = apply_all(UiState(), [story.started(1, "go"), story.incomplete(1)], 100.0)
    shown = pane(kind, apply_all(cut, [again], 500.0), 503.0, 80)
    assert re.search(r"(turn \d {3,}|waiting for the model {3,}3 s.*)44 s", shown)


@pytest.mark.parametrize("kind", [Activity, Strip])
def test_a_silence_in_the_middle_of_a_reply_is_said_with_its_length(
    kind: type[Activity] | type[Strip],
) -> None:
    for delta in (
        TextDelta(turn=1, step=1, text="a"),
        ReasoningDelta(turn=1, step=1, text="a", seconds=1.0),
    ):
        state = apply_all(UiState(), [story.started(1, "go"), delta], 100.0)
        assert "no word" not in pane(kind, state, 103.0, 80)
        assert "● no word for 12 s" in pane(kind, state, 112.0, 80)
        assert "no word" not in pane(kind, apply_all(state, [delta], 112.0), 113.0, 80)


def test_activity_has_a_single_row_until_a_call_lasts_and_again_with_the_next_turn() -> None:
    now = 100.0
    panel = Activity(STYLES, UNICODE, clock=lambda: now)
    panel.folds = True

    def drawn() -> list[str]:
        return [row.plain.strip("│ ") for row in panel.rows(60, 20) if row.plain.strip("│ ")]

    calls = [story.tool_started(1, "a", "read_file", "a.py"), story.tool_started(1, "b", "bash", "make")]
    state = apply_all(UiState(), [story.started(1, "go"), *calls], now)
    panel.show(state)
    assert panel.is_short and len(drawn()) == 2 and "make" in drawn()[1]
    now = 102.0
    panel.tick(False)
    assert not panel.is_short and any("a.py" in row for row in drawn())
    state = apply_all(state, [story.done(1, calls=2)], now)
    panel.show(state)
    assert not panel.is_short
    panel.show(apply_all(state, [story.started(2, "more")], now))
    assert panel.is_short
    panel.show(apply_all(state, [story.started(2, "more"), story.done(2, calls=3)], now))
    assert "f4 unfold" in drawn()[0] and "turn 2   3 calls" in drawn()[1]


def test_a_command_that_runs_alone_has_its_output_in_one_place() -> None:
    now = 100.0
    panel = Activity(STYLES, UNICODE, clock=lambda: now)
    panel.folds = True

    def put_out(id: str) -> Event:
        return ToolOutput(turn=1, id=id, text=f"line of {id}\n", lines=1, bytes=10)

    def tails() -> list[str]:
        return [row.plain.strip("│ ┊") for row in panel.rows(60, 20) if "┊" in row.plain]

    state = apply_all(UiState(), [story.started(1, "go"), story.tool_started(1, "a", "bash", "make")], now)
    state = apply_all(state, [put_out("a")], now)
    now = 105.0
    panel.show(state)
    assert not panel.is_short and not tails(), "the transcript has it"
    assert any("1 line" in row.plain and "stops" in row.plain for row in panel.rows(60, 20))
    alone = panel.wanted_height(60, 40)
    panel.set_end_in_view(False)
    assert tails() == ["line of a"] and panel.wanted_height(60, 40) == alone + 1
    panel.set_end_in_view(True)
    assert not tails()
    panel.set_folds(False)
    assert tails() == ["line of a"]
    panel.set_folds(True)
    state = apply_all(state, [story.tool_started(1, "b", "bash", "make b"), put_out("b")], now)
    panel.show(state)
    assert tails() == ["line of a", "line of b"]
    state = apply_all(state, [story.tool_finished(1, "b", "bash", "make b", ToolResult(text=""))], now)
    panel.show(state)
    assert tails() == ["line of a"], "nothing jumps when one of them ends"


def test_a_turn_that_lasted_in_another_session_does_not_open_activity() -> None:
    now = 100.0
    panel = Activity(STYLES, UNICODE, clock=lambda: now)
    panel.folds = True
    state = apply_all(UiState(), [story.started(1, "go"), story.tool_started(1, "a", "bash", "make")], now)
    now = 105.0
    panel.show(replace(state, session_id="a"))
    assert not panel.is_short
    panel.show(replace(apply_all(UiState(), [story.started(1, "go")], now), session_id="b"))
    assert panel.is_short


def test_a_sub_agent_opens_activity_at_once() -> None:
    panel = Activity(STYLES, UNICODE, clock=lambda: 1.0)
    panel.folds = True
    panel.show(
        apply_all(UiState(), [story.started(1, "go"), story.tool_started(1, "a", "task", "explore")], 1.0)
    )
    assert not panel.is_short


def test_activity_is_drawn_anew_with_the_word_that_ends_a_silence() -> None:
    now = 100.0
    panel = Activity(STYLES, UNICODE, clock=lambda: now)
    word = TextDelta(turn=1, step=1, text="a")
    state = apply_all(UiState(), [story.started(1, "go"), word], now)
    panel.show(state)
    now = 112.0
    with patch.object(panel, "changed") as changed:
        panel.show(apply_all(state, [word], now))
    changed.assert_called_once_with()


def test_activity_goes_on_with_its_clocks_and_its_dot() -> None:
    now = 100.0
    panel = Activity(STYLES, UNICODE, clock=lambda: now)
    panel.show(apply_all(UiState(), [story.started(1, "go")], now))

    def drawn() -> str:
        return "\n".join(row.plain for row in panel.rows(40, 20))

    first = drawn()
    assert first.count("0 s") == 2 and UNICODE.running in first
    now = 103.0
    assert drawn().count("3 s") == 2
    panel.beat = False
    assert UNICODE.running not in drawn() and UNICODE.running_alt in drawn()


def test_nobody_must_act_on_a_silence_so_it_is_soft() -> None:
    state = apply_all(UiState(), [story.started(1, "go"), TextDelta(turn=1, step=1, text="a")], 100.0)
    strip = Strip(STYLES, UNICODE, clock=lambda: 112.0)
    strip.show(state)
    row = strip.rows(80, 1)[0]
    start = row.plain.index("no word")
    styles = [span.style for span in row.spans if span.start <= start < span.end]
    assert styles[-1] == STYLES("soft")


def test_a_recovering_turn_says_what_it_goes_on_from() -> None:
    state = apply_all(UiState(), [story.started(1, None, attempt=2, recovering=4)], 1.0)
    assert "● recovering: 4 calls" in status(state, 80)


def test_two_ends_of_a_row_never_run_into_each_other() -> None:
    row = spread(Text("a long sentence on the left"), Text("right"), 20)
    assert row.cell_len == 20
    assert row.plain.endswith(" right")


def test_a_word_longer_than_a_row_is_broken() -> None:
    assert [row.plain for row in wrapped("at http://a.example", 8, STYLES("text"))] == [
        "at", "http://a", ".example",
    ]  # fmt: skip


def test_words_are_wrapped_between_words() -> None:
    assert [row.plain for row in wrapped("one two three", 8, STYLES("text"))] == ["one two", "three"]


def test_a_notice_that_is_too_long_says_so() -> None:
    note = NoticeRows(STYLES, UNICODE, id="notice", most_rows=2)
    note.text = "one two three four"
    assert [row.plain.strip() for row in note.rows(7 + len("three four"), 0)] == ["one two", "three four"]
    assert [row.plain.strip() for row in note.rows(7 + len("three"), 0)] == ["one", "two…"]
