"""Gathers the facts of a turn's finished tool calls. It reads results, never tool names (turn.md rule 12)."""

from __future__ import annotations

from collections.abc import Iterable

from keen_tui.domain.messages import CommandFailed, Fact, FileChanged, TurnMemory


class Recorder:
    """Starts empty for each turn, or with the facts of the pending state that the turn continues from."""

    def __init__(self, facts: Iterable[Fact] = ()) -> None:
        self._facts = list(facts)

    def record(self, facts: Iterable[Fact]) -> None:
        """Add the facts of one finished tool call."""
        self._facts.extend(facts)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """All facts, in order."""
        return tuple(self._facts)


def turn_memory(facts: Iterable[Fact]) -> TurnMemory:
    """The facts as TurnMemory: each file once, in first-seen order; all failed commands, in order."""
    files: dict[str, None] = {}
    failed: list[CommandFailed] = []
    for fact in facts:
        match fact:
            case FileChanged(path=path):
                files[path] = None
            case CommandFailed():
                failed.append(fact)
    return TurnMemory(files_changed=tuple(files), failed_bash=tuple(failed))


def merged_memory(memories: Iterable[TurnMemory]) -> TurnMemory:
    """Several memories as one, oldest first: the union of the files, all failed commands, all notes."""
    all_of = list(memories)
    files = {path: None for memory in all_of for path in memory.files_changed}
    return TurnMemory(
        files_changed=tuple(files),
        failed_bash=tuple(failed for memory in all_of for failed in memory.failed_bash),
        notes=tuple(note for memory in all_of for note in memory.notes),
    )
