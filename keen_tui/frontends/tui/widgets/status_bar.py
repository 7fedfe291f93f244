"""The last row: permission mode, context and tokens on the left, the keys that matter now on the right."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace
from rich.text import Text

from keen_tui.frontends.shared.run_status import run_facts
from keen_tui.frontends.tui.keys.keymap import shown
from keen_tui.frontends.tui.look.cells import meter
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.state.state import UiState
from keen_tui.frontends.tui.state.trail import Trail
from keen_tui.frontends.tui.widgets.phrases import tool_name
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, indented, spread
from keen_tui.text.labels import kept_words
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted, dollars, tokens

_SIDE = 2
_METER = 10
_SHORT_METER = 7
_ROOM_FOR_HINTS = 40
"""Columns from which on two keys have room beside mode and meter."""


class StatusBar(RowWidget):
    """Draws the state it is given with `show`; the other attributes say what the screen is doing.

    `chip_in_view` is whether the retry chip can be seen in the transcript: if not, the badge is one.
    `pane_keys` are keys and verbs of the focused pane, which then take the left half.
    `overlay_open` offers the key that closes the panels.
    """

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__(styles, glyphs, id="status")
        self._state = UiState()
        self._chip_in_view = True
        self._pane_keys: tuple[tuple[str, str], ...] = ()
        self._overlay_open = False
        self._beat = True

    def show(
        self,
        state: UiState,
        *,
        chip_in_view: bool,
        pane_keys: tuple[tuple[str, str], ...],
        overlay_open: bool,
    ) -> None:
        """Draw this state, if something that stands in the row is different."""
        # Other widgets draw these.
        state = replace(
            state, past=Trail(), live=(), turn_past=Trail(), turns=Trail(), phase_since=0.0, last_word_at=0.0
        )
        before = self._state, self._chip_in_view, self._pane_keys, self._overlay_open
        if before == (state, chip_in_view, pane_keys, overlay_open):
            return
        self._state = state
        self._chip_in_view = chip_in_view
        self._pane_keys = pane_keys
        self._overlay_open = overlay_open
        self.changed()

    def tick(self, beat: bool) -> None:
        """A second has passed."""
        if self._state.recovering:
            self._beat = beat
            self.changed()

    def rows(self, width: int, height: int) -> list[Text]:
        room = width - 2 * _SIDE
        right = self._right(room)
        left = Text()
        for left in self._lefts(room - right.cell_len - 2):  # if none fits, the last one is used
            if left.cell_len + right.cell_len + 3 <= room:
                break
        return [indented(spread(left, right, room, self.glyphs.more), _SIDE)]

    def _keys_of_pane(self, room: int) -> Text:
        """The keys of the pane; where not all have room the last one, which leads back, stays longest."""
        hints = [self.key_hint(key, verb) for key, verb in self._pane_keys]
        while len(hints) > 1 and self.fact(*hints).cell_len > room:
            del hints[-2]
        row = self.fact(*hints)
        return row if row.cell_len <= room else Text()

    def _lefts(self, room: int) -> Iterator[Text]:
        """The left half, fullest first. What goes is the name of the sandbox, then tokens, then cost, then
        the word about the sandbox, then the label of the meter. Each is made only if the ones before it don't
        fit."""
        if self._pane_keys:
            yield self._keys_of_pane(room)
            return
        look = self.look
        word = "replay" if self._state.replay else self._state.mode
        alone = Text(word, look("wait" if word == "auto" else "text", bold=True))
        mode = self.fact(alone, self._tasks())
        whole, fill = self._fill(_METER, counts=True), self._fill(_METER)
        cost, sandbox, totals = self._cost(), self._sandbox(), self._totals()
        yield self.fact(mode, self._sandbox(named=True), whole, totals, cost)
        yield self.fact(mode, sandbox, whole, totals, cost)
        yield self.fact(mode, sandbox, whole, cost)
        yield self.fact(mode, sandbox, fill, cost)
        yield self.fact(mode, sandbox, self._fill(_SHORT_METER), cost)
        yield self.fact(mode, sandbox, fill)
        yield from self._narrow_lefts(mode, sandbox, fill)
        yield mode
        yield alone

    def _narrow_lefts(self, mode: Text, sandbox: Text, fill: Text) -> list[Text]:
        """Where there is little room: that there is no sandbox goes last, that there is one first."""
        short, number = self._fill(_SHORT_METER, label=False), self._fill(0, label=False)
        if self._state.sandbox and not self._state.sandbox.name:
            return [
                self.fact(mode, sandbox, short),
                self.fact(mode, sandbox, number),
                self.fact(mode, sandbox),
            ]
        whole = self._fill(_SHORT_METER)
        return [self.fact(mode, each) for each in (fill, whole, short, number)]

    def _tasks(self) -> Text:
        """How many commands run in the background."""
        running = len(self._state.tasks)
        words = f"{self.glyphs.running} {running} in background" if running else ""
        return Text(words, self.look("accent"))

    def _sandbox(self, *, named: bool = False) -> Text:
        found = self._state.sandbox
        if found is None:
            return Text()
        if not found.name:
            return Text("no sandbox", self.look("wait"))
        return Text(f"sandbox {found.name}" if named else "sandbox", self.look("dim"))

    def _fill(self, cells: int, *, label: bool = True, counts: bool = False) -> Text:
        """How full the context window is, with a meter of so many cells, 0 for the number alone."""
        look, used = self.look, self._state.context_tokens
        window = self._state.model.context_window if self._state.model else None
        if used is None:
            return Text()
        if not window:
            return Text.assemble(("context ", look("dim")), (tokens(used), look("text")))
        share = used / window
        filled, track = meter(share, cells, self.glyphs) if cells else ("", "")
        role = "wait" if share > 0.8 else "accent"
        return Text.assemble(
            ("context " if label else "", look("dim")),
            (filled, look(role)),
            (track, look("track")),
            (f"{' ' if cells else ''}{share * 100:.0f} %", look("text")),
            (f"  {tokens(used)} of {tokens(window)}" if counts else "", look("dim")),
        )

    def _totals(self) -> Text:
        """Tokens of the session, in and out, and how much of the input the prompt cache had."""
        spent, glyphs = self._state.spent, self.glyphs
        if not spent:
            return Text()
        share = round(100 * spent.cached_tokens / max(spent.input_tokens, 1))
        cached = f" ({share} % cached)" if share else ""
        sums = f"{glyphs.up}{tokens(spent.input_tokens)}{cached} {glyphs.down}{tokens(spent.output_tokens)}"
        return Text(sums, self.look("dim"))

    def _cost(self) -> Text:
        spent = self._state.spent
        if not spent or spent.cost is None:
            return Text()
        return Text(dollars(spent.cost), self.look("soft"))

    def _right(self, room: int) -> Text:
        state, look, glyphs = self._state, self.look, self.glyphs
        help_key = self.hint("help")
        if state.replay:
            return self._right_of_replay(room)
        if asks := state.approval or state.asked:
            name = tool_name(clean(asks.name))
            waits = Text(f"{glyphs.asks} {name} waits for you", look("wait", bold=True))
            return self.fact(waits, help_key) if room > 50 else waits
        if state.run.is_on and (state.running or state.run.waiting):
            return self._right_of_run(room)
        if state.running:
            return self._right_of_running(help_key if room >= _ROOM_FOR_HINTS else Text())
        if state.pending:
            return self._pending_badge(room, help_key)
        if self._overlay_open:
            return self.fact(self.hint("sidebar", "close"), self.hint("next_pane"))
        if state.failed:
            stopped = state.failed.outcome == "stopped"
            words = f"{glyphs.stopped} stopped" if stopped else f"{glyphs.failed} failed"
            failed = Text(words, look("soft" if stopped else "fail", bold=True))
            return self.fact(failed, help_key if self._chip_in_view else self.hint("retry", "send again"))
        return self.fact(self.hint("palette"), help_key) if room >= _ROOM_FOR_HINTS else help_key

    def _right_of_replay(self, room: int) -> Text:
        """Returns the keys that matter during a replay, and once all of it is shown."""
        first = self.hint("stop", "play the rest") if self._state.replay == "playing" else self.hint("find")
        leave = self.key_hint("ctrl+d", "quit")
        return self.fact(first, leave) if room >= _ROOM_FOR_HINTS else first

    def _right_of_run(self, room: int) -> Text:
        """How far the run is, and the key that ends it: as many facts as have half of the row."""
        role = "wait" if self._state.run.waiting else "accent"
        facts = [Text(fact, self.look(role)) for fact in run_facts(self._state.run)]
        stop = self.hint("stop")
        while len(facts) > 1 and self.fact(*facts, stop).cell_len > room // 2:
            facts.pop()
        return self.fact(*facts, stop)

    def _right_of_running(self, help_key: Text) -> Text:
        state, glyphs = self._state, self.glyphs
        stop = self.hint("stop", "cancel" if state.phase == "compacting" else "stop")
        if state.recovering:
            dot = glyphs.running if self._beat else glyphs.running_alt
            badge = Text(f"{dot} recovering: {counted(state.recovering, 'call')}", self.look("accent"))
            return self.fact(badge, stop)
        if self._overlay_open:
            return self.fact(self.hint("sidebar", "close"), stop)
        return self.fact(stop, help_key)

    def _pending_badge(self, room: int, help_key: Text) -> Text:
        """Returns the badge of an incomplete turn. It names the key that continues the turn only if the
        transcript doesn't show that key."""
        pending, look = self._state.pending, self.look
        assert pending is not None
        words = f"{self.glyphs.look} pending: {kept_words(pending.calls, pending.agents)}"
        if room < 48:
            words = f"{self.glyphs.look} pending"
        if not self._chip_in_view:
            return Text(f" {words}   {shown('retry')} retry ", look("on-wait", on="wait-fill", bold=True))
        return self.fact(Text(words, look("wait", bold=True)), help_key)
