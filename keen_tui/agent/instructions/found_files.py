"""Where instructions are looked for: the user's settings folder, then from the project's root down to the
folder that is worked in, and below it.

Files that people have for Claude Code count as that program reads them: `CLAUDE.local.md` and the rules in
`.claude/rules` beside the file that counts in a folder, rules with `paths` only for files that these match.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from keen_tui.agent.instructions.imports import imports_of
from keen_tui.agent.instructions.instruction_file import FoundFile, Unread, paths_of_rule, read_file
from keen_tui.domain.errors import ToolFailure
from keen_tui.tools.rules.globs import Glob

FILE: Final = "AGENTS.md"
OVERRIDE: Final = "AGENTS.override.md"
"""Read in the place of the AGENTS.md beside it."""
CLAUDE: Final = "CLAUDE.md"
"""While this name counts, so do the other files that Claude Code reads."""
_LOCAL: Final = "CLAUDE.local.md"
_RULES: Final = Path(".claude", "rules")
_MOST_RULES: Final = 100
"""Rules in one folder, and folders that are searched for them."""


class InstructionFolder:
    """The instructions in one folder.

    Args:
        workspace: the folder that is worked in; names are relative to it.
        bounds: the folder that no link may leave.
        fallbacks: names that are looked for if there is no AGENTS.md, the first one first.
    """

    def __init__(self, folder: Path, workspace: Path, bounds: Path, fallbacks: Sequence[str]) -> None:
        self.path = folder
        self._workspace = workspace
        self._bounds = bounds
        self._names = _present(folder, fallbacks)
        self._claude = CLAUDE in fallbacks
        self._rules, self._more_rules = _rules_in(folder) if self._claude else ((), False)

    def always(self) -> Iterator[FoundFile]:
        """The files that count for everything in the folder, the most important last."""
        yield from (rule for rule in self._read_rules() if not rule.paths)
        if self._names:
            yield self._chosen()
        if self._claude and os.path.lexists(self.path / _LOCAL):
            yield self._found(self.path / _LOCAL)

    def rules_for(self, path: Path) -> Iterator[FoundFile]:
        """The rules with `paths` that match this file."""
        for rule in self._read_rules():
            with suppress(ToolFailure):  # a pattern that can't be read matches nothing
                if any(Glob(each).matches(path.relative_to(self.path).as_posix()) for each in rule.paths):
                    yield rule

    def passed_over(self) -> Iterator[tuple[str, Unread]]:
        """Files that aren't read, each with the reason: those beside the one that counts which say something
        else, if neither names the other, and rules beyond the limit."""
        if self._more_rules:
            rules = self._found(self.path / _RULES).name
            yield f"The rest of {rules}", Unread(f"it has more than {_MOST_RULES} files")
        if len(self._names) < 2:
            return
        chosen = self._chosen()
        said = _text_of(chosen)
        for other in (self._found(self.path / each) for each in self._names):
            text = "" if other.path.name == FILE else _text_of(other)
            is_new = text.strip() and text != said and FILE not in text
            if is_new and other.path != chosen.path and other.path.name not in said:
                yield other.name, Unread(f"{chosen.name} is read instead")

    def _chosen(self) -> FoundFile:
        """The file that counts: the first one, but if another one imports the AGENTS.md beside it, that one:
        it says more."""
        found = [self._found(self.path / name) for name in self._names]
        if self._names[0] != FILE:
            return found[0]
        return next((each for each in found[1:] if _imports(each, self.path / FILE)), found[0])

    def _read_rules(self) -> Iterator[FoundFile]:
        return (self._found(path, paths_of_rule(path, self._bounds)) for path in self._rules)

    def _found(self, path: Path, paths: tuple[str, ...] = ()) -> FoundFile:
        name = Path(os.path.relpath(path, self._workspace)).as_posix()
        return FoundFile(path=path, name=name, bounds=self._bounds, paths=paths)


def own_file(settings_folder: Path) -> FoundFile | None:
    """The user's own instructions, for every project."""
    names = _present(settings_folder, ())
    if not names:
        return None
    return FoundFile(path=settings_folder / names[0], name=f"your own {names[0]}", bounds=None)


def project_folders(workspace: Path, home: Path, fallbacks: Sequence[str]) -> list[InstructionFolder]:
    """The folders from the root of the repository down to the workspace, the nearest last.

    Args:
        home: the user's home folder; nothing above it is looked at.
    """
    workspace = Path(os.path.realpath(workspace))
    folders = _folders(workspace, Path(os.path.realpath(home)))
    return [InstructionFolder(each, workspace, folders[-1], fallbacks) for each in reversed(folders)]


def nested_files(path: Path, workspace: Path, home: Path, fallbacks: Sequence[str]) -> Iterator[FoundFile]:
    """The rules for the file `path`, and the files of each folder from below the workspace down to that of
    `path`, the nearest last; without `path` itself. Nothing for a path outside the workspace.

    Args:
        path: of a file, with symlinks resolved.
    """
    workspace = Path(os.path.realpath(workspace))
    if not path.is_relative_to(workspace):
        return
    above = project_folders(workspace, home, fallbacks)
    for each in above:
        yield from each.rules_for(path)
    parts = path.parent.relative_to(workspace).parts
    for depth in range(1, len(parts) + 1):
        folder = InstructionFolder(workspace.joinpath(*parts[:depth]), workspace, above[0].path, fallbacks)
        yield from folder.rules_for(path)
        yield from (file for file in folder.always() if file.path != path)


def _present(folder: Path, fallbacks: Sequence[str]) -> list[str]:
    """The names that may count in a folder and are there, the first one first."""
    return [name for name in (OVERRIDE, FILE, *fallbacks) if os.path.lexists(folder / name)]


def _imports(importer: FoundFile, path: Path) -> bool:
    folder = importer.path.parent
    return any(Path(os.path.normpath(folder / each)) == path for each in imports_of(_text_of(importer)))


def _text_of(found: FoundFile) -> str:
    """Its text, "" if it can't be read."""
    try:
        return read_file(found).text
    except Unread:
        return ""


def _rules_in(folder: Path) -> tuple[Sequence[Path], bool]:
    """The rules in a folder and below it, by their names, and whether there are more of them. No link to a
    folder is followed: it could lead to all files of the machine."""
    top = folder / _RULES
    if top.is_symlink() or top.parent.is_symlink():
        return (), False
    found: list[Path] = []
    for number, (place, folders, files) in enumerate(os.walk(top)):
        folders.sort()
        found += (Path(place, name) for name in sorted(files) if name.endswith(".md"))
        if number >= _MOST_RULES or len(found) > _MOST_RULES:
            return found[:_MOST_RULES], True
    return found, False


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
