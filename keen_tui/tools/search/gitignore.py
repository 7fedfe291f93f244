"""Applies .gitignore like git: nested files, negation, and the innermost rule wins.

Rules count from the top of the repository, or from the workspace if there is no repository.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IgnoreRules: TypeAlias = "tuple[tuple[Path, GitIgnoreSpec], ...]"
"""The .gitignore files that apply, outermost first, each with its folder."""


def start_of_rules(folder: Path, root: Path) -> Path:
    """The folder from which .gitignore files count for a search in `folder`.

    That is `folder` itself if it is ignored: somebody who names an ignored folder wants to search it.
    """
    top = _top(folder, root)
    rules: IgnoreRules = ()
    here = top
    for part in folder.relative_to(top).parts:
        rules = with_rules_of(here, rules)
        here /= part
        if is_ignored(here, True, rules):
            return folder
    return top


def walk(folder: Path, start: Path) -> Iterator[Path]:
    """Files below `folder` that no .gitignore from `start` on excludes, in order. Skips links."""
    rules: IgnoreRules = ()
    for above in reversed(folder.parents):
        if above == start or start in above.parents:
            rules = with_rules_of(above, rules)
    levels = [_entries(folder, rules)]
    while levels:
        for path, rules_there in levels[-1]:
            if rules_there is not None:
                levels.append(_entries(path, rules_there))
                break
            yield path
        else:
            levels.pop()


def _entries(folder: Path, rules: IgnoreRules) -> Iterator[tuple[Path, IgnoreRules | None]]:
    """Folders (with the rules for them) and files (with None) in a folder, by name."""
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return
    if any(entry.name == ".git" for entry in entries):
        rules = ()  # a nested repository has its own rules
    rules = with_rules_of(folder, rules)
    for entry in entries:
        path = Path(entry.path)
        is_folder = entry.is_dir(follow_symlinks=False)
        if entry.name == ".git" or is_ignored(path, is_folder, rules):
            continue
        if is_folder:
            yield path, rules
        elif entry.is_file(follow_symlinks=False):
            yield path, None


def _top(folder: Path, root: Path) -> Path:
    for above in (folder, *folder.parents):
        if os.path.lexists(above / ".git"):
            return above
    return root if root == folder or root in folder.parents else folder


def with_rules_of(folder: Path, rules: IgnoreRules) -> IgnoreRules:
    """The rules inside `folder`: those from above, and those of its own .gitignore."""
    return with_rules_from(folder / ".gitignore", folder, rules)


def with_rules_from(file: Path, folder: Path, rules: IgnoreRules) -> IgnoreRules:
    """The rules, and those of a file in the format of .gitignore that counts from `folder` on."""
    try:
        if not file.is_file():
            return rules  # reading a pipe with that name would never end
        lines = file.read_text("utf-8", "replace").splitlines()
    except OSError:
        return rules
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - 30 ms that the first paint need not pay

    return (*rules, (folder, GitIgnoreSpec.from_lines(lines)))


def is_ignored(path: Path, is_folder: bool, rules: IgnoreRules) -> bool:
    """Whether the innermost matching .gitignore rule ignores the path."""
    for folder, spec in reversed(rules):
        name = path.relative_to(folder).as_posix() + ("/" if is_folder else "")
        verdict = spec.check_file(name).include
        if verdict is not None:
            return verdict
    return False
