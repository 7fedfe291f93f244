"""The commands in the background: a list with their states, and one with its output."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from keen_tui.domain.background import TaskReport
from keen_tui.frontends.shared.tasks_port import TasksPort
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.key import Key
from keen_tui.frontends.tui.pages.live_list import LiveList
from keen_tui.frontends.tui.pages.page_screen import PageScreen
from keen_tui.frontends.tui.widgets.row_widget import cut_row, wrapped
from keen_tui.text.units import size


class TasksScreen(PageScreen[None]):
    """The commands, the newest first, with the key that stops one. That with the `id` is open at first."""

    drops = 0

    def __init__(self, styles: Styles, glyphs: Glyphs, port: TasksPort, id: str) -> None:
        super().__init__(styles, glyphs)
        self._port = port
        self._list = LiveList(styles, glyphs, self, lambda task: task.id, opened=id)
        self.body = self._list
        self.parts = (self.head, self._list, self.foot)

    def lines(self) -> Sequence[TaskReport]:
        return self._port.tasks()

    def heading(self) -> tuple[str, str]:
        if self._list.opened:
            return f"Command {self._list.chosen.id} in the background", ""
        return "Commands in the background", f"{sum(task.running for task in self.lines())} running"

    def entry(self, task: TaskReport, width: int, chosen: bool) -> tuple[Text, Text]:
        look = self.look
        left = Text.assemble(
            self._mark(task), " ", (task.id, look("dim")), " ", (task.command, look("text", bold=chosen))
        )
        left = cut_row(left, max(width * 3 // 5, width - 40), self.glyphs.more)
        said = f"{task.state}   {size(task.bytes)}"
        return left, cut_row(Text(said, look("dim")), max(width - left.cell_len - 3, 1), self.glyphs.more)

    def details(self, task: TaskReport, width: int) -> Sequence[Text]:
        look = self.look
        rows = wrapped(task.command, width, look("text"))
        began = f"   began in turn {task.turn}" if task.turn else ""
        rows.append(Text.assemble(self._mark(task), " ", (f"{task.state}{began}", look("text"))))
        rows += [Text(f"  {task.file}", look("dim"))] if task.file else []
        output = self._port.output(task.id).strip("\n").split("\n")
        lines = [Text(f"  {line}", look("soft")) for line in output]
        title = f"output, {size(task.bytes)}" if task.bytes else "no output" + (" yet" * task.running)
        return [*rows, Text(), Text(title, look("soft", bold=True)), *(lines if task.bytes else ())]

    def keys(self) -> Sequence[Key]:
        stop = "stop" if self._list.chosen.running else ""
        return (
            *self._list.keys("output"),
            Key("page_stop", stop, lambda: self.tell(self._port.stop(self._list.chosen.id))),
            Key("escape", "back", self.leave, "q"),
        )

    def _mark(self, task: TaskReport) -> Text:
        look, glyphs = self.look, self.glyphs
        if task.running:
            return Text(glyphs.running, look("accent"))
        if task.stopped:
            return Text(glyphs.stopped, look("dim"))
        return Text(glyphs.failed, look("fail")) if task.failed else Text(glyphs.done, look("ok"))
