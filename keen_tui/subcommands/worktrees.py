"""What the command line does with work trees: begin in one, list them, remove one."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from keen_tui.domain.errors import ConfigError, KeenError
from keen_tui.storage.lookup.sessions import SessionStore
from keen_tui.system.presence import present_in
from keen_tui.system.yes_or_no import answered_yes
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted
from keen_tui.tools.git.linked_tree import LinkedTree
from keen_tui.tools.git.work_trees import WorkTrees
from keen_tui.wiring.parts import build_store


def enter(name: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Make the work tree of that name the current folder; "" makes a new one. Returns sentences about it.

    Raises:
        ConfigError: the name can't be one, or there is no repository to begin with here. WorkTreeFailed: git
            can't make it.
    """
    begun = WorkTrees(environ).begin(Path.cwd(), name)
    tree, record = begun.tree, begun.tree.record
    os.chdir(tree.path)
    if not begun.is_new:
        return (f"This is the work tree {record.name} of {record.project}, on the branch {record.branch}.",)
    where = f"{record.base or 'commit'} {record.commit[:8]}".strip()
    new = f"A new work tree, {record.name} of {record.project}: branch {record.branch}, from {where}."
    if not begun.left_behind:
        return (new,)
    files = counted(begun.left_behind, "file")
    return (new, f"The project's uncommitted changes ({files}) don't come along.")


def way_on(folder: Path, environ: Mapping[str, str]) -> str:
    """Where the work tree of the current folder is, what it holds, and how to go on there."""
    tree = WorkTrees(environ).at(folder)
    if tree is None:
        return f"The work tree {folder} is gone."
    try:
        holds = tree.state().changes or "no changes"
    except KeenError as error:
        holds = str(error)
    name = tree.record.name
    return (
        f"The work tree {name}, branch {tree.record.branch}, has {holds}. It is in {tree.path}. "
        f"Continue with: keen-tui --worktree {name} --continue"
    )


def run(
    words: Sequence[str], folder: Path | None, environ: Mapping[str, str], keys: TextIO, out: TextIO
) -> int:
    """List the work trees of the project around `folder`, None for those of all projects; or remove one:
    `words` are then "remove" and its name.

    Raises:
        ConfigError: other words, or there is no such work tree. WorkTreeFailed: it can't be removed.
    """
    if words and (len(words) != 2 or words[0] != "remove"):
        raise ConfigError("Use keen-tui worktrees, or keen-tui worktrees remove NAME.")
    trees = WorkTrees(environ)
    project = trees.project_of(folder) if folder else None
    found = trees.all(project)
    if words:
        _remove(_named(words[1], found), environ, keys, out)
        return 0
    if not found:
        print("No work trees here. keen-tui --worktree makes one." if project else "No work trees.", file=out)
    store = build_store(environ)
    for tree in found:
        for line in _lines(tree, store, environ, with_project=project is None):
            print(clean(line), file=out)
    return 0


def _named(name: str, found: Sequence[LinkedTree]) -> LinkedTree:
    fitting = [tree for tree in found if tree.record.name == name]
    if len(fitting) == 1:
        return fitting[0]
    what = f"Several projects have a work tree {name}" if fitting else f"There is no work tree {name} here"
    raise ConfigError(f"{clean(what)[:120]}: run this in its project. keen-tui worktrees --all lists them.")


def _lines(
    tree: LinkedTree, store: SessionStore, environ: Mapping[str, str], *, with_project: bool
) -> Iterator[str]:
    """What it is and holds, its newest session, and where it is."""
    record = tree.record
    facts = [record.name, record.branch]
    facts += [f"of the sub-agent {record.agent}"] if record.agent else []
    facts += [record.project] if with_project else []
    if problem := tree.problem:
        facts.append(f"! {problem}")
    else:
        facts.append(_holds(tree))
    used = present_in(environ, tree.path)
    facts += [f"open in process {', '.join(str(each.pid) for each in used)}"] if used else []
    yield "   ".join(facts)
    if session := store.newest(tree.path):
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(session.last_used))
        yield f"    {clean(session.title) or '(untitled)'}, {counted(session.turns, 'turn')}, {when}"
    yield f"    {tree.path}"


def _holds(tree: LinkedTree) -> str:
    """Its changes, and how far it is ahead of the branch on which it was begun."""
    try:
        state = tree.state()
    except KeenError as error:
        return f"! {error}"
    ahead = f"{state.ahead} ahead of {state.base}" if state.ahead and state.base else ""
    return ", ".join(filter(None, (state.changes or "no changes", ahead)))


def _remove(tree: LinkedTree, environ: Mapping[str, str], keys: TextIO, out: TextIO) -> None:
    """Remove it; asks first if it has something that is nowhere else, or if that can't be known."""
    name = tree.record.name
    if used := present_in(environ, tree.path):
        raise ConfigError(
            f"{name} was not removed: Keen is running there (process {used[0].pid}). Quit it first."
        )
    problem = tree.problem
    has = f"Keen can't tell what {name} has: {problem}" if problem else ""
    if not problem and (changes := tree.state().changes):
        has = f"{name} has {changes}."
    if has:
        if not keys.isatty():
            raise ConfigError(f"{has} It wasn't removed, because there is nobody to ask here.")
        if not answered_yes(f"{clean(has)}\nRemove it with that? [y/N] ", keys, out):
            print("Not removed.", file=out)
            return
    print(clean(tree.remove(with_changes=bool(has))), file=out)
