"""Gathers the facts of a turn's finished tool calls. It reads results, never tool names (turn.md rule 12)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, repeat

from msgspec.structs import replace

from keen_tui.domain.messages import (
    CalledTool,
    CommandFailed,
    CommandUnwatched,
    Fact,
    FileChanged,
    PageRead,
    ServerCalled,
    SkillUsed,
    TurnMemory,
    WorkTreeChanged,
)


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
    """The facts as TurnMemory: each file, skill, page and work tree once, in first-seen order; all failed
    commands, in order."""
    only_by_command: dict[str, bool] = {}
    failed: list[CommandFailed] = []
    skills: dict[str, SkillUsed] = {}
    unwatched = False
    pages: dict[str, None] = {}
    called: list[CalledTool] = []
    trees: dict[str, WorkTreeChanged] = {}
    for fact in facts:
        match fact:
            case FileChanged(path=path, by_command=by_command):
                only_by_command[path] = by_command and only_by_command.get(path, True)
            case CommandFailed():
                failed.append(fact)
            case CommandUnwatched():
                unwatched = True
            case PageRead(url=url):
                pages[url] = None
            case SkillUsed(name=name):
                skills[name] = fact
            case ServerCalled(server=server, tool=tool, failed=has_failed):
                called.append(CalledTool(server=server, tool=tool, done=not has_failed, failed=has_failed))
            case WorkTreeChanged(name=name):
                trees[name] = fact
    return TurnMemory(
        files_changed=tuple(only_by_command),
        failed_bash=tuple(failed),
        by_command=tuple(path for path, by_command in only_by_command.items() if by_command),
        unwatched=unwatched,
        pages_read=tuple(pages),
        skills=tuple(skills.values()),
        called=_counted(called),
        work_trees=tuple(trees.values()),
    )


def facts_of(memory: TurnMemory) -> tuple[Fact, ...]:
    """A memory as the facts that it came from. Its notes aren't facts."""
    by_command = set(memory.by_command)
    files = (FileChanged(path=path, by_command=path in by_command) for path in memory.files_changed)
    pages = (PageRead(url=url) for url in memory.pages_read)
    unwatched = (CommandUnwatched(),) if memory.unwatched else ()
    calls = chain.from_iterable(map(_calls_of, memory.called))
    return (*files, *memory.failed_bash, *unwatched, *memory.skills, *calls, *memory.work_trees, *pages)


def _calls_of(called: CalledTool) -> Iterator[ServerCalled]:
    for failed, count in ((False, called.done), (True, called.failed)):
        yield from repeat(ServerCalled(server=called.server, tool=called.tool, failed=failed), count)


def merged_memory(memories: Iterable[TurnMemory]) -> TurnMemory:
    """Several memories as one, oldest first: the union of the files, skills, pages and work trees, all
    failed commands, all notes, the calls of each tool."""
    all_of = list(memories)
    files = {path: None for memory in all_of for path in memory.files_changed}
    by_tools = {path for memory in all_of for path in set(memory.files_changed).difference(memory.by_command)}
    return TurnMemory(
        files_changed=tuple(files),
        by_command=tuple(path for path in files if path not in by_tools),
        unwatched=any(memory.unwatched for memory in all_of),
        failed_bash=tuple(failed for memory in all_of for failed in memory.failed_bash),
        notes=tuple(note for memory in all_of for note in memory.notes),
        pages_read=tuple(dict.fromkeys(url for memory in all_of for url in memory.pages_read)),
        skills=tuple({skill.name: skill for memory in all_of for skill in memory.skills}.values()),
        called=_counted(each for memory in all_of for each in memory.called),
        work_trees=tuple({tree.name: tree for memory in all_of for tree in memory.work_trees}.values()),
    )


def _counted(called: Iterable[CalledTool]) -> tuple[CalledTool, ...]:
    """Each tool once, with all of its calls."""
    found: dict[str, CalledTool] = {}
    for each in called:
        before = found.get(each.name)
        done, failed = (before.done, before.failed) if before else (0, 0)
        found[each.name] = replace(each, done=done + each.done, failed=failed + each.failed)
    return tuple(found.values())
