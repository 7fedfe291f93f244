"""The TurnMemory of a turn as entries that can be forgotten one by one, and notes added to them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from keen_tui.domain.messages import CalledTool, CommandFailed, SkillUsed, TurnMemory, WorkTreeChanged
from keen_tui.text.units import counted


class Note(Struct, frozen=True):
    """A note that the user added."""

    text: str


class MemoryEntry(Struct, frozen=True):
    """A changed file (its path), a failed command, a skill, a called tool, a work tree or a note.

    `forgotten`: it will be left out. `added` marks a note that was written just now.
    """

    what: str | CommandFailed | SkillUsed | CalledTool | WorkTreeChanged | Note
    forgotten: bool = False
    added: bool = False


def entries_of(memory: TurnMemory) -> list[MemoryEntry]:
    """Files, then failed commands, skills, called tools of servers, work trees, notes."""
    return [
        *(MemoryEntry(path) for path in memory.files_changed),
        *(MemoryEntry(failed) for failed in memory.failed_bash),
        *(MemoryEntry(skill) for skill in memory.skills),
        *(MemoryEntry(called) for called in memory.called),
        *(MemoryEntry(tree) for tree in memory.work_trees),
        *(MemoryEntry(Note(note)) for note in memory.notes),
    ]


def memory_of(entries: Sequence[MemoryEntry], before: TurnMemory) -> TurnMemory:
    """The TurnMemory that was `before`, without what is forgotten and with what was added."""
    kept = [entry.what for entry in entries if not entry.forgotten]
    files = tuple(what for what in kept if isinstance(what, str))
    return TurnMemory(
        files_changed=files,
        by_command=tuple(path for path in before.by_command if path in files),
        unwatched=before.unwatched,
        pages_read=before.pages_read,
        failed_bash=tuple(what for what in kept if isinstance(what, CommandFailed)),
        skills=tuple(what for what in kept if isinstance(what, SkillUsed)),
        notes=tuple(what.text for what in kept if isinstance(what, Note)),
        called=tuple(what for what in kept if isinstance(what, CalledTool)),
        work_trees=tuple(what for what in kept if isinstance(what, WorkTreeChanged)),
    )


def told(turn: int, entries: Sequence[MemoryEntry]) -> str:
    """Returns the changes of an edit in words: `turn 3 2 forgotten 1 note added`."""
    forgotten = sum(entry.forgotten and not entry.added for entry in entries)
    added = sum(entry.added and not entry.forgotten for entry in entries)
    facts = [f"turn {turn}", f"{forgotten} forgotten" if forgotten else ""]
    facts.append(f"{counted(added, 'note')} added" if added else "")
    return "   ".join(fact for fact in facts if fact)
