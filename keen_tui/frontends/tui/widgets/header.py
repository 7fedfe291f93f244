"""The top row: brand, folder, branch and title on the left, model and server on the right."""

from __future__ import annotations

from pathlib import Path

from rich.text import Text

from keen_tui.domain.events import ModelChanged
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.widgets.row_widget import GAP, RowWidget, indented, spread
from keen_tui.text.sanitize import clean

_SIDE = 2


class HeaderBar(RowWidget):
    """Says where one is and who answers. The branch is read from `.git/HEAD`; no process is started. In a
    work tree of Keen's, whose folder has the name of its branch, `project` is the name of its project."""

    def __init__(self, styles: Styles, glyphs: Glyphs, *, folder: Path, project: str = "") -> None:
        super().__init__(styles, glyphs, id="header")
        self._folder = clean(project or folder.name or str(folder))
        self._branch = clean(branch_of(folder))
        self._model: ModelChanged | None = None
        self._title = ""

    @property
    def title(self) -> str:
        """The title of the conversation, "" before the first message."""
        return self._title

    @title.setter
    def title(self, title: str) -> None:
        if title != self._title:
            self._title = title
            self.changed()

    def show_model(self, model: ModelChanged | None) -> None:
        """Say which model answers, how hard it reasons and where it is served."""
        if model != self._model:
            self._model = model
            self.changed()

    def rows(self, width: int, height: int) -> list[Text]:
        look = self.look
        left = Text.assemble(
            ("keen", look("accent", bold=True)), GAP, (self._folder, look("text")), "  ",
            (self._branch, look("soft")), GAP if self._branch else " ", (clean(self._title), look("dim")),
        )  # fmt: skip
        model = self._model
        facts = ((model.model, "soft"), (model.effort, "dim"), (model.server, "dim")) if model else ()
        right = Text("  ").join(Text(clean(words), look(role)) for words, role in facts if words)
        room = width - 2 * _SIDE
        return [indented(spread(left, right, room, self.glyphs.more), _SIDE)]


def branch_of(folder: Path) -> str:
    """The branch that is checked out in `folder`, the start of the commit when none is, or nothing."""
    git = next((here / ".git" for here in (folder, *folder.parents) if (here / ".git").exists()), None)
    if git is None:
        return ""
    try:
        if git.is_file():
            git = git.parent / git.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        head = (git / "HEAD").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref:") else head[:8]
