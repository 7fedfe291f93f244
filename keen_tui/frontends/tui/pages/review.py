"""A review: how far it is, then a row for each finding; enter shows one whole, and opens its place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec.structs import replace
from rich.text import Text

from keen_tui.domain.choices import Priority
from keen_tui.domain.review import Finding, ReviewReport
from keen_tui.frontends.shared.review_port import ReviewsPort
from keen_tui.frontends.tui.look.cells import cut
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.key import Key
from keen_tui.frontends.tui.pages.live_list import LiveList
from keen_tui.frontends.tui.pages.page_screen import PageScreen
from keen_tui.frontends.tui.transcript.places import Named
from keen_tui.frontends.tui.widgets.row_widget import cut_row, wrapped
from keen_tui.text.review_words import found_words, outcome_words, place_words, task_of
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted, dollars, tokens

_OVERVIEW: Final = 0
"""The line above the findings, which are numbered from 1."""
_ROLES: Final[Mapping[Priority, str]] = {"P0": "fail", "P1": "fail", "P2": "wait", "P3": "dim"}
_STATES: Final[Mapping[str, str]] = {
    "running": "running",
    "done": "done",
    "incomplete": "incomplete",
    "error": "no report",
}

PlaceEditor = Callable[[Sequence[Named]], Awaitable[str]]
"""Opens the first of these places that is there; gives a sentence about why none could be, else ""."""


class ReviewScreen(PageScreen[str]):
    """An overview, and the findings, the most urgent first. Dismissed with the task that a finding was handed
    back as."""

    drops = 0

    def __init__(self, styles: Styles, glyphs: Glyphs, port: ReviewsPort, opener: PlaceEditor) -> None:
        super().__init__(styles, glyphs)
        self._port = port
        self._opener = opener
        self._list = LiveList(styles, glyphs, self)
        self.body = self._list
        self.parts = (self.head, self._list, self.foot)

    @property
    def _finding(self) -> Finding | None:
        """The chosen finding; None while the overview is chosen."""
        return self._found(self._list.chosen)

    def _found(self, number: int) -> Finding | None:
        return self._report.findings[number - 1] if number else None

    def lines(self) -> Sequence[int]:
        return range(len(self._report.findings) + 1)

    def heading(self) -> tuple[str, str]:
        report = self._report
        if self._list.opened and self._finding:
            return f"Finding {self._list.chosen} of {len(report.findings)}", self._finding.priority
        right = found_words(report) if report.state == "done" else _STATES[report.state]
        return f"Review of {clean(report.scope.title)}", right

    def entry(self, number: int, width: int, chosen: bool) -> tuple[Text, Text]:
        look, finding = self.look, self._found(number)
        if finding is None:
            return self._overview_row(width, chosen=chosen)
        place = cut(place_words(finding), width // 3, self.glyphs.more)
        title = Text.assemble(
            (finding.priority, look(_ROLES[finding.priority], bold=True)),
            " ",
            (clean(finding.title), look("text", bold=chosen)),
        )
        return cut_row(title, max(width - len(place) - 3, 8), self.glyphs.more), Text(place, look("dim"))

    def details(self, number: int, width: int) -> Sequence[Text]:
        finding = self._found(number)
        return self._overview(width) if finding is None else self._finding_rows(finding, width)

    def keys(self) -> Sequence[Key]:
        """While it runs, only that it can be stopped is told."""
        opened, finding, is_done = self._list.opened, self._finding, not self._port.running
        moves, opens = self._list.keys("read" if finding else "details")
        enter = Key("enter", "editor" if finding else "", self._edit) if opened else opens
        of_finding = (
            Key("page_edit", "" if opened else "editor", self._edit),
            enter,
            Key("page_task", "make it a task", self._hand_back),
        )
        keys = of_finding if finding else (enter,)
        return (
            moves,
            *(keys if is_done else (replace(key, verb="") for key in keys)),
            Key("page_stop", "" if is_done else "stop", self._port.stop),
            Key("escape", "back", self.leave, "q"),
        )

    @property
    def _report(self) -> ReviewReport:
        report = self._port.newest
        assert report  # the page is opened for one
        return report

    def _mark(self) -> Text:
        look, glyphs = self.look, self.glyphs
        match self._report.state:
            case "running":
                return Text(glyphs.running, look("accent"))
            case "done":
                return Text(glyphs.done, look("ok"))
            case "incomplete":
                return Text(glyphs.stopped, look("wait"))
            case _:
                return Text(glyphs.failed, look("fail"))

    def _overview_row(self, width: int, *, chosen: bool) -> tuple[Text, Text]:
        look, report = self.look, self._report
        said = Text.assemble(self._mark(), " ", (outcome_words(report), look("text", bold=chosen)))
        left = cut_row(said, width, self.glyphs.more)
        beside = report.newest_call if report.state == "running" else self._left_out()
        room = width - left.cell_len - 3
        return left, cut_row(Text(clean(beside), look("dim")), room, self.glyphs.more) if room > 0 else Text()

    def _left_out(self) -> str:
        left_out = len(self._report.left_out)
        return f"{counted(left_out, 'file')} left out" if left_out else ""

    def _overview(self, width: int) -> list[Text]:
        look, report = self.look, self._report
        rows = wrapped(outcome_words(report), width, look("text", bold=True))
        rows += wrapped(clean(report.summary), width, look("text")) if report.files and report.summary else []
        rows += [row for text in report.notices for row in wrapped(clean(text), width, look("wait"))]
        rows += [Text(), Text(f"reviewed   {counted(len(report.files), 'file')}", look("soft", bold=True))]
        rows += [Text(f"  {clean(path)}", look("soft")) for path in report.files]
        if report.left_out:
            rows += [Text(), Text(f"not reviewed   {self._left_out()}", look("wait", bold=True))]
        rows += [Text(f"  {clean(each.path)}: {each.reason}", look("soft")) for each in report.left_out]
        facts = (report.model, self._used(), report.session_id and f"session {report.session_id}")
        return [*rows, Text(), Text("   ".join(filter(None, facts)), look("dim"))]

    def _used(self) -> str:
        spent = self._report.spent
        if not spent:
            return ""
        used = f"{tokens(spent.input_tokens)} tokens sent"
        return used if spent.cost is None else f"{used}, {dollars(spent.cost)}"

    def _finding_rows(self, finding: Finding, width: int) -> list[Text]:
        look = self.look
        rows = wrapped(clean(finding.title), width, look("text", bold=True))
        sure = f"{finding.confidence:.0%} sure"
        rows.append(Text.assemble((place_words(finding), look("accent")), (f"   {sure}", look("dim"))))
        rows += [Text(), *wrapped(clean(finding.reason, newlines=True), width, look("text"))]
        if finding.suggestion:
            rows += [Text(), Text("suggestion", look("soft", bold=True))]
            rows += wrapped(clean(finding.suggestion, newlines=True), width, look("soft"))
        return rows

    def _edit(self) -> None:
        """Open the place of the chosen finding in the user's editor."""
        if finding := self._finding:
            path = str(Path(self._report.root, finding.file))
            self.tell(self._opener([Named(path, finding.first_line, by_call=True)]))

    def _hand_back(self) -> None:
        if finding := self._finding:
            self.dismiss(task_of(finding))
