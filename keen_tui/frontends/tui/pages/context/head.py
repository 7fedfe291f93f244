"""The head of the context view: the policies side by side, each with what it sends in all."""

from __future__ import annotations

from rich.text import Text

from keen_tui.domain.reports import POLICIES
from keen_tui.frontends.tui.look.cells import meter
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.context.columns import (
    TEXT_EDGE,
    WIDE_FROM,
    PolicyView,
    columns_of,
    saving,
    share,
    thousands,
)
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, indented, spread
from keen_tui.text.spending import percent_of
from keen_tui.text.units import dollars, size, tokens

ESTIMATES = "tokens are estimates"
_LOW = 2
"""Rows of the head in a terminal that has room for no more."""


REUSABLE = "a prompt cache can reuse"
INPUT_COST = "input cost, cached / uncached"


class ContextHead(RowWidget):
    """Six rows: names, tokens with their share of the window, a meter, bytes with what is saved, tokens that
    a prompt cache can reuse, and the cost of the input. In a low terminal two rows say some of that."""

    def __init__(self, styles: Styles, glyphs: Glyphs, view: PolicyView) -> None:
        super().__init__(styles, glyphs, id="context-head")
        self._view = view

    def show(self, view: PolicyView) -> None:
        """Draw this report."""
        self._view = view
        self.changed()

    def rows(self, width: int, height: int) -> list[Text]:
        columns = columns_of(width, self._view.chosen)
        marks = [self._mark(policy) for policy in columns.policies]
        page: list[Text] = []
        draws = (self._title, self._tokens, self._meter, self._bytes, self._reuse, self._cost)
        for draw, left in zip(draws[:height], self._left(width, height), strict=False):
            figures = [draw(policy, columns.cells) for policy in columns.policies]
            row = indented(left, TEXT_EDGE)
            page.append(columns.row(row, figures, () if page else marks, self.glyphs.more))
        return page

    def _left(self, width: int, height: int) -> tuple[Text, ...]:
        look, window = self.look, self._view.report.window
        room = f"window {tokens(window)} tokens" if window else "window not known"
        explained = "what the model gets if you send now" if height > _LOW else self._in_short()
        return (
            Text("Next request", look("text", bold=True)),
            Text(explained, look("soft")),
            Text("" if width >= WIDE_FROM else ESTIMATES, look("dim")),
            Text(room, look("dim")),
            Text(REUSABLE, look("dim")),
            Text(INPUT_COST, look("dim")),
        )

    def _in_short(self) -> str:
        """Reuse and cost under the chosen policy, where they have no rows of their own."""
        reuse = self._view.report.reuse[self._view.chosen]
        whole = self._view.report.totals[self._view.chosen].tokens
        cost = "price not known" if reuse.cost is None else dollars(reuse.cost)
        if reuse.tokens is None or not whole:
            return f"nothing reusable   {cost}"
        cached = "" if reuse.cost is None else f"{_money(reuse.reused_cost)} / "
        return f"{percent_of(reuse.tokens, whole)} reusable   {cached}{cost}"

    def _mark(self, policy: int) -> Text:
        """A dot before the policy in use; the sign of choice before another that is looked at."""
        if policy == self._view.in_use:
            return Text(self.glyphs.running, self.look("accent"))
        chosen = policy == self._view.chosen
        return Text(self.glyphs.prompt if chosen else " ", self.look("accent"))

    def _title(self, policy: int, cells: int) -> Text:
        chosen = policy == self._view.chosen
        name = Text(POLICIES[policy], self.look("text" if chosen else "soft", bold=chosen))
        word = "in use" if policy == self._view.in_use else ""
        return spread(name, Text(word, self.look("accent")), cells, self.glyphs.more)

    def _tokens(self, policy: int, cells: int) -> Text:
        look, report = self.look, self._view.report
        count = report.totals[policy].tokens
        chosen = policy == self._view.chosen
        left = Text.assemble(
            (thousands(count, self.glyphs), look("text", bold=chosen)), " ", ("tokens", look("soft"))
        )
        part = share(count, report.window) if report.window else ""
        return spread(left, Text(part, look("dim")), cells, self.glyphs.more)

    def _meter(self, policy: int, cells: int) -> Text:
        totals = self._view.report.totals
        largest = max(total.tokens for total in totals)
        filled, track = meter(totals[policy].tokens / largest if largest else 0.0, cells, self.glyphs)
        role = "accent" if policy == self._view.in_use else "soft"
        return Text.assemble((filled, self.look(role)), (track, self.look("track")))

    def _reuse(self, policy: int, cells: int) -> Text:
        """Returns the tokens that are the same as in the last request, and their share."""
        look, report = self.look, self._view.report
        count, whole = report.reuse[policy].tokens, report.totals[policy].tokens
        if count is None:
            return Text(self.glyphs.none, look("dim"))
        left = Text.assemble((thousands(count, self.glyphs), look("soft")), " ", ("tokens", look("dim")))
        return spread(
            left, Text(percent_of(count, whole) if whole else "", look("soft")), cells, self.glyphs.more
        )

    def _cost(self, policy: int, cells: int) -> Text:
        """Returns the cost of the input with the prompt cache and without."""
        look, reuse = self.look, self._view.report.reuse[policy]
        if reuse.cost is None:
            return Text("price not known", look("dim"))
        cached = self.glyphs.none if reuse.tokens is None else _money(reuse.reused_cost)
        return spread(
            Text(cached, look("soft")), Text(_money(reuse.cost), look("dim")), cells, self.glyphs.more
        )

    def _bytes(self, policy: int, cells: int) -> Text:
        totals = self._view.report.totals
        largest = max(total.bytes for total in totals)
        left = Text(size(totals[policy].bytes), self.look("dim"))
        less = saving(totals[policy].bytes, largest, self.glyphs)
        return spread(left, Text(less, self.look("soft")), cells, self.glyphs.more)


def _money(amount: float | None) -> str:
    return "unknown" if amount is None else dollars(amount)
