"""Short phrases for the state of the session, shared by panels, strip and status bar."""

from __future__ import annotations

from typing import NamedTuple

from rich.text import Text

from keen_tui.domain.display import DiffDisplay
from keen_tui.domain.facts.remembered import FactRow, Remembered
from keen_tui.domain.messages import TurnMemory
from keen_tui.frontends.tui.keys.keymap import shown
from keen_tui.frontends.tui.look.cells import cut_path
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.state.state import Block, Phase, ToolBlock, UiState
from keen_tui.text.labels import drawn, tool_label
from keen_tui.text.units import duration

DOING: dict[Phase, str] = {
    "idle": "ready",
    "waiting": "waiting for the model",
    "thinking": "thinking",
    "answering": "answering",
    "tool": "working",
    "asking": "waits for you",
    "retrying": "trying again",
    "compacting": "summarising",
    "shell": "running your command",
}

QUIET_SECONDS = 5.0
"""How long a model that is answering may be silent before that is said."""


class Doing(NamedTuple):
    """The current activity of the turn, and how many seconds it has lasted. `silent`: the reply has begun,
    but no text is coming."""

    words: str
    seconds: float
    silent: bool = False

    @property
    def sentence(self) -> str:
        """The words; for a silence, with its length."""
        return f"{self.words} {self.clock}" if self.silent else self.words

    @property
    def clock(self) -> str:
        """The seconds in words."""
        return duration(self.seconds, running=True)


def doing(state: UiState, now: float) -> Doing:
    """Returns the current activity of the turn, or how long the reply has been silent."""
    if state.hook:
        return Doing(f"hook {state.hook}", now - state.phase_since)
    silence = now - state.last_word_at
    if state.phase in ("thinking", "answering") and silence >= QUIET_SECONDS:
        return Doing("no word for", silence, silent=True)
    return Doing(DOING[state.phase], now - state.phase_since)


def tool_name(name: str) -> str:
    """The name of a tool on the screen: at most six cells."""
    short = tool_label(name)
    return short if len(short) <= 6 else short[:5] + "…"


def running_tool(blocks: tuple[Block, ...]) -> ToolBlock | None:
    """The newest call that runs or asks."""
    for block in reversed(blocks):
        if isinstance(block, ToolBlock) and block.status in ("running", "asks"):
            return block
    return None


def line_counts(block: ToolBlock, styles: Styles, glyphs: Glyphs) -> Text:
    """`+3 −1` of a call that changed a file; empty for others."""
    display = block.shown
    if not isinstance(display, DiffDisplay):
        return Text()
    return Text.assemble(
        (f"+{display.added}", styles("add")), " ", (f"{glyphs.minus}{display.removed}", styles("del"))
    )


def fact_sign(kind: type[Remembered], styles: Styles, glyphs: Glyphs, role: str) -> Text:
    """Returns the sign of a kind of facts."""
    return Text(glyphs.of(kind.SIGN), styles("fail" if glyphs.of(kind.SIGN) == glyphs.failed else role))


def fact_texts(row: FactRow, cells: int, styles: Styles, glyphs: Glyphs) -> tuple[Text, Text]:
    """Returns the texts at the left and the right end of a row, in so many cells."""
    row = drawn(row)
    came_to = Text(row.came_to, styles("fail" if row.failed else "dim"))
    room = cells - (came_to.cell_len + 1 if came_to else 0)
    text = cut_path(row.text, max(room, 8), glyphs.more) if row.is_path else row.text
    return Text(text, styles("text")), came_to


def memory_counts(memory: TurnMemory, styles: Styles, glyphs: Glyphs) -> Text:
    """`±1 ✗1 ◆1 •1`: files changed, commands failed, skills, notes and the like; a dash for none of them."""
    found = ((kind, facts) for kind, facts in memory.by_kind if kind.IS_ENTRY)
    parts = [fact_sign(kind, styles, glyphs, "text").append(kind.count(facts)) for kind, facts in found]
    return Text(" ").join(parts) if parts else Text(glyphs.none, styles("dim"))


def composer_hint(state: UiState) -> str:
    """Returns the hint in the empty composer."""
    if state.replay:
        return "This is a replay; you can't send messages"
    if state.running:
        what = {"compacting": "the summary", "shell": "your command"}.get(state.phase, "this turn")
        if not state.turn_running:
            return f"Type to queue a message for after {what}"
        one = "another message" if state.queue or state.steered else "a message"
        return f"Type to queue {one}; {shown('steer')} steers this turn now"
    if state.pending:
        return "Or type a new instruction; the finished work is kept"
    if state.failed:
        which = "stopped" if state.failed.outcome == "stopped" else "failed"
        return f"Or type; the {which} message is sent along with it"
    return "What next?" if state.turns else "What should I do?"
