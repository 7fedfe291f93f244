"""The editor of a turn's memory: forgets entries, adds notes, and saves all changes at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from keen_tui.domain.choices import PolicyName
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.facts.note import Note
from keen_tui.domain.facts.remembered import Remembered
from keen_tui.domain.messages import TurnMemory, turn_memory
from keen_tui.frontends.tui.keys.keymap import same_key, shown
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.context.columns import RIGHT_MARGIN, TEXT_EDGE
from keen_tui.frontends.tui.pages.context.foot import Foot
from keen_tui.frontends.tui.state.state import TurnRow
from keen_tui.frontends.tui.terminal.laid_out_once import KeenScreen
from keen_tui.frontends.tui.widgets.phrases import fact_sign, fact_texts
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, cut_row, indented, spread, wrapped
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted

_EXPLAINED = "Later turns see only this. Forgetting an entry doesn't touch your files."


class MemoryEntry(Struct, frozen=True):
    """Something remembered. `forgotten`: it will be left out. `added` marks a note written just now."""

    what: Remembered
    forgotten: bool = False
    added: bool = False


def entries_of(memory: TurnMemory) -> list[MemoryEntry]:
    """What of it can be forgotten."""
    return [MemoryEntry(fact) for fact in memory.facts if fact.IS_ENTRY]


def memory_of(entries: Sequence[MemoryEntry], before: TurnMemory) -> TurnMemory:
    """The TurnMemory that was `before`, without what is forgotten and with what was added."""
    kept = (entry.what for entry in entries if not entry.forgotten)
    return turn_memory((*kept, *(fact for fact in before.facts if not fact.IS_ENTRY)))


def told(turn: int, entries: Sequence[MemoryEntry]) -> str:
    """What was changed: `turn 3   2 forgotten   1 note added`."""
    forgotten = sum(entry.forgotten and not entry.added for entry in entries)
    added = sum(entry.added and not entry.forgotten for entry in entries)
    facts = [f"turn {turn}", f"{forgotten} forgotten" if forgotten else ""]
    facts.append(f"{counted(added, 'note')} added" if added else "")
    return "   ".join(fact for fact in facts if fact)


class EntryRows(RowWidget):
    """Title, explanation and the entries around the chosen one."""

    def __init__(self, styles: Styles, glyphs: Glyphs, row: TurnRow, policy: PolicyName) -> None:
        super().__init__(styles, glyphs, id="memory-rows")
        self._explained = _EXPLAINED
        if policy != "summary":
            self._explained += f"\nIt is sent only under the summary policy; {policy} is in use now."
        self.entries = entries_of(row.memory)
        self.place = 0
        self.sentence = ""
        self._row = row
        self._first = 0

    @property
    def chosen(self) -> MemoryEntry | None:
        """The entry that x forgets."""
        return self.entries[self.place] if self.entries else None

    def move(self, step: int) -> None:
        """Choose an entry further up or down."""
        self.place = min(max(self.place + step, 0), max(len(self.entries) - 1, 0))
        self.changed()

    def forget(self) -> None:
        """Forget the chosen entry, or keep it after all; a note just written is taken away."""
        chosen = self.chosen
        if chosen is None:
            return
        if chosen.added:
            del self.entries[self.place]
            self.move(0)
            return
        self.entries[self.place] = replace(chosen, forgotten=not chosen.forgotten)
        self.changed()

    def add(self, note: str) -> None:
        """Add a note at the end."""
        self.entries.append(MemoryEntry(Note(note), added=True))
        self.move(len(self.entries))

    def say(self, sentence: str) -> None:
        """One sentence below the entries."""
        self.sentence = sentence
        self.changed()

    def rows(self, width: int, height: int) -> list[Text]:
        look = self.look
        inner = max(width - TEXT_EDGE - RIGHT_MARGIN, 1)
        what = Text(f"TurnMemory of turn {self._row.turn}", look("text", bold=True))
        title = cut_row(self.fact(what, Text(clean(self._row.title), look("dim"))), inner, self.glyphs.more)
        head = [title, *wrapped(self._explained, inner, look("soft")), Text()]
        foot = [Text(), *wrapped(clean(self.sentence), inner, look("soft"))] if self.sentence else []
        room = max(height - len(head) - len(foot), 1)
        return [
            *(indented(row, TEXT_EDGE) for row in head),
            *self._body(width, room),
            *(indented(row, TEXT_EDGE) for row in foot),
        ]

    def _body(self, width: int, room: int) -> list[Text]:
        if not self.entries:
            return [indented(Text("Nothing is remembered of this turn.", self.look("dim")), TEXT_EDGE)]
        self._first = max(min(self._first, self.place), self.place - room + 1)
        self._first = max(min(self._first, len(self.entries) - room), 0)
        last = min(self._first + room, len(self.entries))
        return [self._entry(place, width) for place in range(self._first, last)]

    def _entry(self, place: int, width: int) -> Text:
        entry, look, glyphs = self.entries[place], self.look, self.glyphs
        chosen = place == self.place
        inner = width - TEXT_EDGE - RIGHT_MARGIN
        words, right = fact_texts(entry.what.row, inner, look, glyphs)
        mark = fact_sign(type(entry.what), look, glyphs, "soft")
        right = Text("new", look("dim")) if entry.added else right
        if entry.forgotten:
            words, right = Text(words.plain, look("dim", italic=True)), Text("forgotten", look("dim"))
            mark = Text(glyphs.none, look("dim"))
        elif chosen:
            words.stylize(look("text", bold=True))
        bar = (glyphs.bar if chosen else " ", look("accent"))
        row = Text.assemble(bar, " ", mark, " ", spread(words, right, inner, glyphs.more))
        if not chosen:
            return row
        row.pad_right(max(width - row.cell_len, 0))
        return Text.assemble(row, style=look("text", on="raised"))


class MemoryEditor(KeenScreen[str | None]):
    """Dismissed with a sentence about what was saved, or with None.

    `policy` is the one in use; `save` may raise SessionRefused.
    """

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", show=False),
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("pageup", "move(-10)", show=False),
        Binding("pagedown", "move(10)", show=False),
        same_key("page_forget", "forget"),
        Binding("delete", "forget", show=False),
        same_key("page_note", "note"),
        Binding("enter", "save", show=False),
    ]

    def __init__(
        self,
        styles: Styles,
        glyphs: Glyphs,
        row: TurnRow,
        policy: PolicyName,
        save: Callable[[TurnMemory], None],
    ) -> None:
        super().__init__()
        self._turn = row.turn
        self._before = row.memory
        self._save = save
        self._rows = EntryRows(styles, glyphs, row, policy)
        self._note = Input(id="memory-note", compact=True, placeholder="what later turns should know")
        self._note.cursor_blink = False
        self._note.display = False
        self._foot = Foot(styles, glyphs)

    def compose(self) -> ComposeResult:
        yield self._rows
        yield self._note
        yield self._foot

    def on_mount(self) -> None:
        self._tell()

    def action_move(self, step: int) -> None:
        """Choose another entry."""
        self._rows.move(step)
        self._tell()

    def action_forget(self) -> None:
        """Forget the chosen entry, or keep it after all."""
        self._rows.forget()
        self._tell()

    def action_note(self) -> None:
        """Open the line for a note."""
        self._note.display = True
        self._note.focus()
        self._tell()

    def action_back(self) -> None:
        """Close the line for a note; else leave everything as it was."""
        if self._note.display:
            self._close_note()
        else:
            self.dismiss(None)

    def action_save(self) -> None:
        """Set what is remembered; a refusal is told, and what was entered stays."""
        memory = memory_of(self._rows.entries, self._before)
        if memory == self._before:
            self.dismiss(None)
            return
        try:
            self._save(memory)
        except SessionRefused as refused:
            self._rows.say(str(refused))
            return
        self.dismiss(told(self._turn, self._rows.entries))

    @on(Input.Submitted)
    def _written(self, event: Input.Submitted) -> None:
        event.stop()
        if event.value.strip():
            self._rows.add(event.value.strip())
        self._close_note()

    def _close_note(self) -> None:
        self._note.value = ""
        self._note.display = False
        self.set_focus(None)
        self._tell()

    def _tell(self) -> None:
        glyphs, chosen = self._foot.glyphs, self._rows.chosen
        if self._note.display:
            self._foot.show(("enter", "add the note"), ("esc", "no note"))
            return
        is_changed = memory_of(self._rows.entries, self._before) != self._before
        leaving = "discard changes" if is_changed else "back"
        keys = [(shown("page_note"), "note"), ("enter", "save"), ("esc", leaving)]
        if chosen:
            verb = "keep" if chosen.forgotten else "forget"
            keys = [(f"{glyphs.up}{glyphs.down}", "entry"), (shown("page_forget"), verb), *keys]
        self._foot.show(*keys)
