"""Where instructions are looked for: the user's settings folder, then from the project's root down to the
folder that is worked in, and below it.

Files that people have for Claude Code count as that program reads them: `CLAUDE.local.md` and the rules in
`.claude/rules` beside the file that counts in a folder, rules with `paths` only for files that these match.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final

from msgspec import Struct

from keen_tui.agent.instructions.imports import imports_of
from keen_tui.agent.instructions.instruction_file import FoundFile, Unread, paths_of_rule, read_file
from keen_tui.domain.errors import ToolFailure
from keen_tui.tools.search.globs import Glob

FILE: Final = "AGENTS.md"
OVERRIDE: Final = "AGENTS.override.md"
"""Read in the place of the AGENTS.md beside it."""
CLAUDE: Final = "CLAUDE.md"
"""While this name counts, so do the other files that Claude Code reads."""
_LOCAL: Final = "CLAUDE.local.md"
_RULES: Final = Path(".claude", "rules")
_MOST_RULES: Final = 100


class FilesOfFolder(Struct, frozen=True, kw_only=True):
    """The instructions in one folder: `always` are the files that count for everything in it, the most
    important last, and `rules` those with `paths`. `passed_over` are files beside the one that counts, each
    with why it isn't read."""

    folder: Path
    always: tuple[FoundFile, ...] = ()
    rules: tuple[FoundFile, ...] = ()
    passed_over: tuple[tuple[str, Unread], ...] = ()

    def rules_for(self, path: Path) -> Iterator[FoundFile]:
        """The rules whose `paths` match this file."""
        for rule in self.rules:
            with suppress(ToolFailure):  # a pattern that can't be read matches nothing
                if any(Glob(each).matches(path.relative_to(self.folder).as_posix()) for each in rule.paths):
                    yield rule


def own_file(settings_folder: Path) -> FoundFile | None:
    """The user's own instructions, for every project."""
    names = _present(settings_folder, ())
    if not names:
        return None
    return FoundFile(path=settings_folder / names[0], name=f"your own {names[0]}", bounds=None)


def project_files(workspace: Path, home: Path, fallbacks: Sequence[str]) -> list[FilesOfFolder]:
    """The files of each folder, from the root of the repository down to the workspace, the nearest last.

    Args:
        home: the user's home folder; nothing above it is looked at.
        fallbacks: names that are looked for where a folder has no AGENTS.md, the first one first.
    """
    workspace = Path(os.path.realpath(workspace))
    folders = _folders(workspace, Path(os.path.realpath(home)))
    return [_files_of(folder, workspace, folders[-1], fallbacks) for folder in reversed(folders)]


def nested_files(path: Path, workspace: Path, home: Path, fallbacks: Sequence[str]) -> Iterator[FoundFile]:
    """The rules for the file `path`, and the files of each folder from below the workspace down to that of
    `path`, the nearest last; without `path` itself. Nothing for a path outside the workspace.

    Args:
        path: of a file, with symlinks resolved.
    """
    workspace = Path(os.path.realpath(workspace))
    if not path.is_relative_to(workspace):
        return
    above = project_files(workspace, home, fallbacks)
    bounds = above[0].folder
    parts = path.parent.relative_to(workspace).parts
    depths = range(1, len(parts) + 1)
    below = [_files_of(workspace.joinpath(*parts[:each]), workspace, bounds, fallbacks) for each in depths]
    for files in (*above, *below):
        yield from files.rules_for(path)
        if files in below:
            yield from (each for each in files.always if each.path != path)


def _files_of(folder: Path, workspace: Path, bounds: Path, fallbacks: Sequence[str]) -> FilesOfFolder:
    def found(path: Path, paths: Sequence[str] = ()) -> FoundFile:
        name = Path(os.path.relpath(path, workspace)).as_posix()
        return FoundFile(path=path, name=name, bounds=bounds, paths=tuple(paths))

    names = _present(folder, fallbacks)
    if not names:
        main: list[FoundFile] = []
    else:
        chosen = found(folder / _chosen(names, folder, bounds))
        main = [chosen]
    if CLAUDE not in fallbacks:
        rules: list[FoundFile] = []
    else:
        rules = [found(path, paths_of_rule(path, bounds)) for path in _rules_in(folder)]
        if os.path.lexists(folder / _LOCAL):
            main.append(found(folder / _LOCAL))
    return FilesOfFolder(
        folder=folder,
        always=(*(rule for rule in rules if not rule.paths), *main),
        rules=tuple(rule for rule in rules if rule.paths),
        passed_over=tuple(_passed_over(chosen, [found(folder / each) for each in names])) if names else (),
    )


def _present(folder: Path, fallbacks: Sequence[str]) -> list[str]:
    """The names that may count in a folder and are there, the first one first."""
    return [name for name in (OVERRIDE, FILE, *fallbacks) if os.path.lexists(folder / name)]


def _chosen(names: Sequence[str], folder: Path, bounds: Path) -> str:
    """The name of the file that counts: the first one, but where another one imports the AGENTS.md beside it,
    that one: it says more."""
    if names[0] != FILE:
        return names[0]
    others = (FoundFile(path=folder / name, name=name, bounds=bounds) for name in names[1:])
    return next((each.name for each in others if _imports(each, folder / FILE)), FILE)


def _imports(importer: FoundFile, path: Path) -> bool:
    folder = importer.path.parent
    return any(Path(os.path.normpath(folder / each)) == path for each in imports_of(_text_of(importer)))


def _passed_over(chosen: FoundFile, beside: Sequence[FoundFile]) -> Iterator[tuple[str, Unread]]:
    """The files beside the one that counts which say something else, if neither names the other."""
    said = _text_of(chosen)
    for other in beside:
        text = "" if other.path.name == FILE else _text_of(other)
        is_new = text.strip() and text != said and FILE not in text
        if is_new and other.path != chosen.path and other.path.name not in said:
            yield other.name, Unread(f"{chosen.name} counts there")


def _text_of(found: FoundFile) -> str:
    """Its text, "" if it can't be read."""
    try:
        return read_file(found).text
    except Unread:
        return ""


def _rules_in(folder: Path) -> list[Path]:
    """The rules in a folder and below it, by their names."""
    with suppress(OSError):
        return sorted(islice((folder / _RULES).rglob("*.md"), _MOST_RULES))
    return []


def _folders(workspace: Path, home: Path) -> list[Path]:
    """The workspace and what is above it up to the root of its repository, or the home folder. Folders of
    other users do not count: everybody may put something above a folder in /tmp."""
    up = [workspace, *workspace.parents]
    ends = [place for place, folder in enumerate(up) if folder == home or os.path.lexists(folder / ".git")]
    reached = up[: ends[0] + 1] if ends else up[:1]
    strange = (place for place, folder in enumerate(reached) if place and not _is_ours(folder))
    return reached[: next(strange, len(reached))]


def _is_ours(folder: Path) -> bool:
    try:
        return folder.stat().st_uid == os.geteuid()
    except OSError:
        return False
