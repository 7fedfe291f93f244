"""The editor of a turn's memory: forgets entries, adds notes, and saves all changes at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace
from rich.text import Text

from keen_tui.domain.choices import PolicyName
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.facts.note import Note
from keen_tui.domain.facts.remembered import Remembered
from keen_tui.domain.messages import TurnMemory, turn_memory
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.context.columns import RIGHT_MARGIN, TEXT_EDGE
from keen_tui.frontends.tui.pages.key import Key
from keen_tui.frontends.tui.pages.page_screen import PageScreen
from keen_tui.frontends.tui.pages.row_list import RowList
from keen_tui.frontends.tui.state.state import TurnRow
from keen_tui.frontends.tui.widgets.field import Field
from keen_tui.frontends.tui.widgets.phrases import fact_sign, fact_texts
from keen_tui.frontends.tui.widgets.row_widget import cut_row, indented, spread, wrapped
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted

_EXPLAINED = "Later turns see only this. Forgetting an entry doesn't touch your files."


class MemoryEntry(Struct, frozen=True):
    """A fact that can be removed. `forgotten`: it will be. `added` marks a note that is new."""

    what: Remembered
    forgotten: bool = False
    added: bool = False


def entries_of(memory: TurnMemory) -> list[MemoryEntry]:
    """Returns the facts that can be removed."""
    return [MemoryEntry(fact) for fact in memory.facts if fact.IS_ENTRY]


def memory_of(entries: Sequence[MemoryEntry], before: TurnMemory) -> TurnMemory:
    """Returns the TurnMemory `before`, without what is forgotten and with what was added."""
    kept = (entry.what for entry in entries if not entry.forgotten)
    return turn_memory((*kept, *(fact for fact in before.facts if not fact.IS_ENTRY)))


def told(turn: int, entries: Sequence[MemoryEntry]) -> str:
    """Returns the changes of an edit in words: `turn 3   2 forgotten   1 note added`."""
    forgotten = sum(entry.forgotten and not entry.added for entry in entries)
    added = sum(entry.added and not entry.forgotten for entry in entries)
    facts = [f"turn {turn}", f"{forgotten} forgotten" if forgotten else ""]
    facts.append(f"{counted(added, 'note')} added" if added else "")
    return "   ".join(fact for fact in facts if fact)


class EntryRows(RowList[MemoryEntry]):
    """Title, explanation and the entries around the chosen one; below them one sentence."""

    page = 10
    mark_from = 0

    def __init__(self, styles: Styles, glyphs: Glyphs, turn: TurnRow, policy: PolicyName) -> None:
        super().__init__(styles, glyphs, self._entry, key=id, id="memory-rows", edges=(0, 0))
        self._explained = _EXPLAINED
        if policy != "summary":
            self._explained += f"\nIt is sent only under the summary policy; {policy} is in use now."
        self._turn = turn
        self._sentence = ""
        self.set_lines(entries_of(turn.memory))

    def forget(self) -> None:
        """Forget the chosen entry, or keep it after all; a note just written is taken away."""
        if (chosen := self.chosen) is not None:
            instead = [] if chosen.added else [replace(chosen, forgotten=not chosen.forgotten)]
            self.set_lines([*self.lines[: self.place], *instead, *self.lines[self.place + 1 :]])

    def add(self, text: str) -> None:
        """Add a note at the end."""
        note = MemoryEntry(Note(text), added=True)
        self.set_lines([*self.lines, note], note)

    def say(self, sentence: str) -> None:
        """One sentence below the entries."""
        self._sentence = sentence
        self.changed()

    def rows(self, width: int, height: int) -> list[Text]:
        look = self.look
        inner = max(width - TEXT_EDGE - RIGHT_MARGIN, 1)
        what = Text(f"TurnMemory of turn {self._turn.turn}", look("text", bold=True))
        title = cut_row(self.fact(what, Text(clean(self._turn.title), look("dim"))), inner, self.glyphs.more)
        head = [title, *wrapped(self._explained, inner, look("soft")), Text()]
        foot = [Text(), *wrapped(clean(self._sentence), inner, look("soft"))] if self._sentence else []
        room = max(height - len(head) - len(foot), 1)
        nothing = Text("Nothing is remembered of this turn.", look("dim"))
        return [
            *(indented(row, TEXT_EDGE) for row in head),
            *(super().rows(width, room) if self.lines else [indented(nothing, TEXT_EDGE)]),
            *(indented(row, TEXT_EDGE) for row in foot),
        ]

    def _entry(self, entry: MemoryEntry, cells: int, chosen: bool) -> Text:
        look, glyphs = self.look, self.glyphs
        inner = cells + 1 - TEXT_EDGE - RIGHT_MARGIN
        words, right = fact_texts(entry.what.row, inner, look, glyphs)
        mark = fact_sign(type(entry.what), look, glyphs, "soft")
        right = Text("new", look("dim")) if entry.added else right
        if entry.forgotten:
            words, right = Text(words.plain, look("dim", italic=True)), Text("forgotten", look("dim"))
            mark = Text(glyphs.none, look("dim"))
        elif chosen:
            words.stylize(look("text", bold=True))
        return Text.assemble(" ", mark, " ", spread(words, right, inner, glyphs.more))


class MemoryEditor(PageScreen[str | None]):
    """Dismissed with a sentence about what was saved, or with None.

    `policy` is the one in use; `save` may raise SessionRefused.
    """

    drops = -2
    says = "elsewhere"

    def __init__(
        self,
        styles: Styles,
        glyphs: Glyphs,
        row: TurnRow,
        policy: PolicyName,
        save: Callable[[TurnMemory], None],
    ) -> None:
        super().__init__(styles, glyphs)
        self._turn = row.turn
        self._before = row.memory
        self._save = save
        self._rows = self.body = EntryRows(styles, glyphs, row, policy)
        self._note = Field(self.press, id="memory-note", placeholder="what later turns should know")
        self._note.display = False
        self.parts = (self._rows, self._note, self.foot)

    def keys(self) -> Sequence[Key]:
        if self._note.display:
            return Key("enter", "add the note", self._add_note), Key("escape", "no note", self._close_note)
        chosen = self._rows.chosen
        forget = "keep" if chosen and chosen.forgotten else "forget"
        of_chosen = (Key("up,down", "entry"), Key("page_forget", forget, self._rows.forget, "delete"))
        return (
            *(of_chosen if chosen else ()),
            Key("page_note", "note", self._open_note),
            Key("enter", "save", self._set),
            Key("escape", "back" if self._memory == self._before else "discard changes", self.leave),
        )

    @property
    def _memory(self) -> TurnMemory:
        """What would be remembered now."""
        return memory_of(self._rows.lines, self._before)

    def _open_note(self) -> None:
        """Open the line for a note."""
        self._note.display = True
        self._note.focus()

    def _add_note(self) -> None:
        if text := self._note.value.strip():
            self._rows.add(text)
        self._close_note()

    def _close_note(self) -> None:
        self._note.value = ""
        self._note.display = False
        self.set_focus(None)

    def _set(self) -> None:
        """Set what is remembered; a refusal is told, and what was entered stays."""
        memory = self._memory
        if memory == self._before:
            self.dismiss(None)
            return
        try:
            self._save(memory)
        except SessionRefused as refused:
            self._rows.say(str(refused))
        else:
            self.dismiss(told(self._turn, self._rows.lines))
