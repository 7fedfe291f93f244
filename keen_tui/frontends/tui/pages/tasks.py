"""The commands in the background: a list with their states, and one with its output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.binding import BindingType

from keen_tui.domain.background import TaskReport
from keen_tui.frontends.shared.tasks_port import TasksPort
from keen_tui.frontends.tui.keys.keymap import same_key, shown
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.live_list import LiveListScreen, LiveRows
from keen_tui.frontends.tui.widgets.row_widget import cut_row, wrapped
from keen_tui.text.units import size


class TaskRows(LiveRows):
    """The commands, the newest first."""

    def __init__(self, styles: Styles, glyphs: Glyphs, port: TasksPort, id: str) -> None:
        self._port = port
        super().__init__(styles, glyphs, id)

    def names(self) -> Sequence[str]:
        return [task.id for task in self._port.tasks()]

    def title(self) -> tuple[str, str]:
        if self.opened:
            return f"Command {self.chosen} in the background", ""
        running = sum(task.running for task in self._port.tasks())
        return "Commands in the background", f"{running} running"

    def entry(self, name: str, width: int, *, chosen: bool) -> tuple[Text, Text]:
        look, task = self.look, self._found(name)
        left = Text.assemble(
            self._mark(task), " ", (task.id, look("dim")), " ", (task.command, look("text", bold=chosen))
        )
        left = cut_row(left, max(width * 3 // 5, width - 40), self.glyphs.more)
        said = f"{task.state}   {size(task.bytes)}"
        return left, cut_row(Text(said, look("dim")), max(width - left.cell_len - 3, 1), self.glyphs.more)

    def whole(self, name: str, width: int) -> list[Text]:
        look, task = self.look, self._found(name)
        rows = wrapped(task.command, width, look("text"))
        began = f"   began in turn {task.turn}" if task.turn else ""
        rows.append(Text.assemble(self._mark(task), " ", (f"{task.state}{began}", look("text"))))
        rows += [Text(f"  {task.file}", look("dim"))] if task.file else []
        output = self._port.output(name).strip("\n").split("\n")
        lines = [Text(f"  {line}", look("soft")) for line in output]
        title = f"output, {size(task.bytes)}" if task.bytes else "no output" + (" yet" * task.running)
        return [*rows, Text(), Text(title, look("soft", bold=True)), *(lines if task.bytes else ())]

    def keys(self) -> Sequence[Text]:
        opens = () if self.opened else (self.key_hint("enter", "output"),)
        stops = (self.key_hint(shown("page_stop"), "stop"),) if self._found(self.chosen).running else ()
        return (*opens, *stops)

    def _found(self, id: str) -> TaskReport:
        return next(task for task in self._port.tasks() if task.id == id)

    def _mark(self, task: TaskReport) -> Text:
        look, glyphs = self.look, self.glyphs
        if task.running:
            return Text(glyphs.running, look("accent"))
        if task.stopped:
            return Text(glyphs.stopped, look("dim"))
        return Text(glyphs.failed, look("fail")) if task.failed else Text(glyphs.done, look("ok"))


class TasksScreen(LiveListScreen[None]):
    """The commands, with the key that stops one."""

    BINDINGS: ClassVar[list[BindingType]] = [same_key("page_stop", "stop")]

    def __init__(self, styles: Styles, glyphs: Glyphs, port: TasksPort, id: str) -> None:
        super().__init__(TaskRows(styles, glyphs, port, id))
        self._port = port

    def action_stop(self) -> None:
        """Stop the chosen command."""
        self.act(self._port.stop)
