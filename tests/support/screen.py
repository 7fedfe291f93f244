"""Shared parts of tests of the screen: looks, blocks of a session, an app with a transcript."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace
from textual._context import visible_screen_stack
from textual.app import App, ComposeResult
from textual.dom import DOMNode
from textual.strip import Strip
from textual.timer import Timer

from keen_tui.domain.display import DiffDisplay, DiffLine, Display
from keen_tui.domain.events import TurnDone, TurnIncomplete
from keen_tui.domain.messages import ToolResult, TurnMemory
from keen_tui.frontends.tui.look.glyphs import UNICODE, Glyphs
from keen_tui.frontends.tui.look.themes import Styles, load_themes
from keen_tui.frontends.tui.rows.render_style import RenderStyle
from keen_tui.frontends.tui.state.state import (
    OWN_COMMAND,
    Block,
    EndBlock,
    ReasoningBlock,
    TextBlock,
    ToolBlock,
    ToolStatus,
    UserBlock,
)
from keen_tui.frontends.tui.state.state_edits import finished
from keen_tui.frontends.tui.state.trail import Trail
from keen_tui.frontends.tui.transcript.messages import Copied, LinkOpened, Moved
from keen_tui.frontends.tui.transcript.widget import Transcript

THEMES = load_themes()[0]

DIFF = DiffDisplay(
    path="src/cart.py",
    hunks=(
        (
            DiffLine(sign=" ", number=31, text="def total(self) -> Money:"),
            DiffLine(sign="-", number=32, text="    return self.discount(net + self.tax(net))"),
            DiffLine(sign="+", number=32, text="    net = self.discount(net)"),
            DiffLine(sign="+", number=33, text="    return net + self.tax(net)"),
        ),
        (DiffLine(sign="+", number=56, text="    return amount"),),
    ),
    added=3,
    removed=1,
    total_lines=88,
)


def strips_of(app: App[Any]) -> list[Strip]:
    """The screen as drawn now. Textual has only these private names for it.

    A screen that lets others show through finds them in a variable that Textual sets when it paints. Without
    it, a look at the wrong moment would draw blanks in their place, which would then stay.
    """
    visible_screen_stack.set(app._background_screens)
    return [Strip(row) for row in app.screen._compositor.render_strips()]


def running_timers(of: DOMNode) -> list[Timer]:
    """The running timers of a widget and its children. Textual has only these private names for them."""
    timers = (timer for node in of.walk_children(with_self=True) for timer in node._timers)
    return [
        timer
        for timer in timers
        if timer._active.is_set() and timer._task is not None and not timer._task.done()
    ]


def look(
    width: int = 80, theme: str = "keen-dark", glyphs: Glyphs = UNICODE, *, colour: bool = True
) -> RenderStyle:
    return RenderStyle(Styles(THEMES[theme], colour=colour), glyphs, width)


def tool_block(
    id: str = "call",
    name: str = "bash",
    target: str = "pytest -q",
    status: ToolStatus = "done",
    *,
    turn: int = 1,
    summary: str = "",
    display: Display | None = None,
    exit_code: int | None = None,
    seconds: float = 0.003,
    tail: str = "",
    text: str = "output",
    read_only: bool = False,
    outside: bool = False,
) -> ToolBlock:
    """A tool call that began at second 0 of the clock."""
    result = ToolResult(
        text=text,
        summary=summary,
        display=display,
        exit_code=exit_code,
        is_error=status == "failed" and not exit_code,
        denied=status == "denied",
        interrupted=status in ("stopped", "not_run"),
        ran=status != "not_run",
        read_only=read_only,
        outside=outside,
    )
    block = ToolBlock(
        turn=turn, id=id, name=name, target=target, status=status, started_at=0.0, tail=tail, seconds=seconds
    )
    if status in ("running", "asks"):
        return block
    return replace(finished(block, result, seconds, packs=name != OWN_COMMAND), status=status, tail=tail)


def text_block(
    text: str, *, turn: int = 1, step: int = 1, open: bool = False, lost: bool = False
) -> TextBlock:
    return TextBlock(turn=turn, step=step, text=text, open=open, lost=lost)


def done_block(turn: int = 1) -> EndBlock:
    return EndBlock(
        end=TurnDone(
            turn=turn,
            attempt=1,
            reason="stop",
            text="",
            turn_memory=TurnMemory(),
            calls=2,
            seconds=52,
            carried_bytes=400,
            trace_bytes=38_400,
        )
    )


def incomplete_block(turn: int = 1, *, lost_words: int = 17) -> EndBlock:
    end = TurnIncomplete(
        turn=turn,
        attempt=1,
        reason="network",
        detail="",
        text="",
        turn_memory=TurnMemory(files_changed=("src/cart.py",)),
        calls=4,
        seconds=41,
        trace_bytes=18_200,
    )
    return EndBlock(end=end, lost_words=lost_words)


def incomplete_turn(turn: int = 1) -> tuple[Block, ...]:
    return (
        UserBlock(turn=turn, text="fix the failing discount test"),
        ReasoningBlock(turn=turn, step=1, text="The test first.", seconds=6.0, open=False),
        text_block("I'll read the test and run it once.", turn=turn),
        tool_block("read", "read_file", "tests/test_cart.py", turn=turn, summary="142 lines"),
        tool_block("run", status="failed", turn=turn, exit_code=1, seconds=1.4),
        tool_block("edit", "edit_file", "src/cart.py", turn=turn, display=DIFF),
        text_block("The discount now comes off", turn=turn, step=3, lost=True),
        incomplete_block(turn),
    )


def long_session(blocks: int) -> tuple[Block, ...]:
    """User messages, folded tool calls and Markdown in turn."""
    session: list[Block] = []
    for turn in range(1, blocks // 4 + 1):
        session += (
            UserBlock(turn=turn, text=f"question {turn}"),
            tool_block(f"a{turn}", turn=turn),
            tool_block(f"b{turn}", turn=turn, display=DIFF),
            text_block(f"Answer **{turn}**.\n\n- one\n- two\n\n```python\nreturn {turn}\n```", turn=turn),
        )
    return tuple(session)


class TranscriptApp(App[None]):
    """A transcript alone on the screen. `moves` are its messages, `now` its clock."""

    CSS = "Screen { background: $background; } Transcript { margin: 0; }"

    def __init__(
        self,
        past: tuple[Block, ...] = (),
        live: tuple[Block, ...] = (),
        *,
        theme: str = "keen-dark",
        glyphs: Glyphs = UNICODE,
        colour: bool = True,
    ) -> None:
        super().__init__()
        self.now = 0.0
        self.moves: list[Moved] = []
        self.copied: list[str] = []
        self.opened: list[str] = []
        self._blocks = (past, live)
        self._look = look(theme=theme, glyphs=glyphs, colour=colour)
        self.register_theme(self._look.styles.theme.textual())
        self.theme = theme

    def compose(self) -> ComposeResult:
        yield Transcript(self._look.styles, self._look.glyphs, clock=lambda: self.now)

    def on_mount(self) -> None:
        self.show(*self._blocks)

    def show(self, past: tuple[Block, ...], live: tuple[Block, ...]) -> None:
        """Show these blocks from now on."""
        self.transcript.show(Trail(past), live)

    @property
    def transcript(self) -> Transcript:
        return self.query_one(Transcript)

    @property
    def rows(self) -> list[str]:
        """The text of the rows in view."""
        transcript = self.transcript
        return [transcript.render_line(row).text.rstrip() for row in range(transcript.size.height)]

    def row_with(self, text: str) -> int:
        return next(number for number, row in enumerate(self.rows) if text in row)

    def on_transcript_moved(self, message: Moved) -> None:
        self.moves.append(message)

    def on_transcript_copied(self, message: Copied) -> None:
        self.copied.append(message.text)

    def on_transcript_link_opened(self, message: LinkOpened) -> None:
        self.opened.append(message.href)
