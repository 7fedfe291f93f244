"""Whether a command only reads, and only inside the workspace: then it may run without asking."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from glob import iglob
from itertools import islice
from pathlib import Path
from typing import Final

from keen_tui.domain.errors import ToolFailure
from keen_tui.system.child_environment import library_folders
from keen_tui.system.executables import program_of_commands
from keen_tui.system.trees import walk
from keen_tui.tools.access.access import Access, CommandPart
from keen_tui.tools.access.sensitive import holds_secrets
from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.shell.git_readers import git_paths, git_shows_content
from keen_tui.tools.shell.grammar import NotUnderstood, SimpleCommand, Word, simple_commands
from keen_tui.tools.shell.mentions import mentioned_commands
from keen_tui.tools.shell.readers import paths_of, reads_below, wants_files
from keen_tui.tools.shell.removals import in_short, lost_by, thrown_away
from keen_tui.tools.shell.risks import risks_of
from keen_tui.tools.shell.writers import writes_plainly

_MOST_BELOW: Final = 50_000
"""The most files whose names are checked when a command reads folders."""
_MOST_FILES: Final = 2_000
"""The most files of a pattern that are checked."""
_MOST_PATTERNS: Final = 3
"""The most parts of a path that may be patterns: with many of them finding the files could take forever."""
_MOST_FOLDERS: Final = 16
"""The most folders that commands may be in: each `cd` doubles their number."""
_APART: Final = re.compile(r"[^\w./~+-]+")
_APART_FROM_PATTERNS: Final = re.compile(r"[^\w./~+*?-]+")
_MOST_WORDS: Final = 200
"""The most words that are checked as file names in a command that isn't understood."""
_BUILTINS: Final = frozenset(["cd", "echo", "printf", "pwd", "true", "false", "type"])


def judged(command: str, workspace: Workspace, *, sandboxed: bool = False) -> Access:
    """The access of a command. `sandboxed` says whether it will run in a sandbox.

    Reads the file system: call it in a thread.
    """
    parts: tuple[CommandPart, ...] = ()
    try:
        parts = tuple(_parts(simple_commands(command), workspace, sandboxed))
        concern = _first_concern(parts)
    except NotUnderstood as reason:
        concern = str(reason)
    mentions = mentioned_commands(command)
    insists = _what_is_lost(mentions) or _what_is_withheld(parts, command, workspace)
    risks = risks_of(command, workspace.root)
    is_held = sandboxed and not workspace.concern
    is_harmless = not insists and not risks and not lost_by(mentions)
    return Access(
        kind="command",
        subject=command,
        concern=concern,
        parts=parts,
        mentions=mentions,
        insists=insists,
        sandboxed=is_held,
        risks=risks,
        secrets=tuple(_named_secrets(command, workspace)) if sandboxed else (),
        tries=is_held and is_harmless and not writes_plainly(command, mentions),
    )


def _first_concern(parts: Sequence[CommandPart]) -> str:
    """Returns the concern about the first part that asks, with its number if there are several parts; "" for
    none."""
    for number, part in enumerate(parts, 1):
        if part.concern and len(parts) > 1:
            return f"{part.concern} (part {number} of {len(parts)})"
        if part.concern:
            return part.concern
    return ""


def _what_is_lost(mentions: Sequence[Sequence[str]]) -> str:
    """Returns the loss that the commands would cause, with the command if there are several; "" for none."""
    for words in mentions:
        if lost := thrown_away([words]):
            return f"{lost} ({in_short(words)})" if len(mentions) > 1 else lost
    return ""


class Withheld(NotUnderstood):
    """It reads a file that needs a question; the text says which one."""


def _what_is_withheld(parts: Sequence[CommandPart], command: str, workspace: Workspace) -> str:
    """The file with keys, or under a rule, that the command reads or names; "" for none."""
    read = next((part.concern for part in parts if part.is_withheld), "")
    if read:
        return read
    words = (word for word in _APART.split(command) if "." in word or "/" in word)
    for word in islice(words, _MOST_WORDS):
        with suppress(ToolFailure):
            place = workspace.place(word)
            if workspace.withholds(place):
                return f"{place.name} may hold keys or passwords, or one of your rules covers it"
    return ""


def _named_secrets(command: str, workspace: Workspace) -> Iterator[Path]:
    """The files of the workspace with names of secrets that the command names, directly or by a pattern."""
    patterns = (word for word in _APART_FROM_PATTERNS.split(command) if word.strip("./*?"))
    for pattern in islice(dict.fromkeys(patterns), _MOST_WORDS):
        names = [pattern]
        if re.search("[*?]", pattern) and len(Path(pattern).parts) <= _MOST_PATTERNS and pattern[0] != "/":
            names = list(islice(iglob(pattern, root_dir=workspace.root), _MOST_FILES))  # noqa: PTH207
        for name in names:
            with suppress(ToolFailure):
                place = workspace.place(name)
                if place.inside and workspace.withholds(place) and place.path.exists():
                    yield place.path


def _parts(commands: Sequence[SimpleCommand], workspace: Workspace, sandboxed: bool) -> Iterator[CommandPart]:
    """Each command with its concern. After a `cd` to an unknown place every command is a concern."""
    folders, lost = [workspace.root], ""
    for each in commands:
        try:
            _require_harmless(each, folders, workspace, sandboxed)
            if each.name == "cd":
                folders += list(_folders_after(each, folders))
            concern = lost
        except NotUnderstood as reason:
            concern = str(reason)
            lost = lost or (concern if each.name == "cd" else "")
            yield CommandPart(words=each.words, concern=concern, is_withheld=isinstance(reason, Withheld))
        else:
            yield CommandPart(words=each.words, concern=concern)


def _require_harmless(
    command: SimpleCommand, folders: Sequence[Path], workspace: Workspace, sandboxed: bool
) -> None:
    if workspace.concern:
        raise NotUnderstood(workspace.concern)
    _require_real_program(command.name, workspace)
    words = list(_paths_of_git(command, sandboxed) if command.name == "git" else paths_of(command))
    for folder in folders:
        paths = [path for word in words for path in _files(word, folder)]
        for path in paths:
            _require_readable(path, workspace)
            if wants_files(command) and path.is_dir():
                raise NotUnderstood(f"{command.name} would show all files in {path}")
        if command.name == "git" and git_shows_content(command.arguments):
            _require_no_secrets_below([folder], workspace)
        elif reads_below(command):
            _require_no_secrets_below(paths or [folder], workspace, are_hidden=sandboxed)


def _paths_of_git(command: SimpleCommand, sandboxed: bool) -> Iterator[Word]:
    if not sandboxed:
        raise NotUnderstood("git can run programs that the repository configures, and there is no sandbox")
    return git_paths(command.arguments)


def _require_real_program(name: str, workspace: Workspace) -> None:
    """Raises NotUnderstood for a program in the workspace."""
    if name in _BUILTINS:
        return
    found = program_of_commands(name)
    if not found:
        return
    if workspace.place(found).inside or workspace.place(str(Path(found).parent)).inside:
        raise NotUnderstood(f"{name} would run a program in the workspace: {found}")
    if "shims" in Path(found).parts or Path(found).resolve().name == "volta-shim":
        raise NotUnderstood(f"a file in this workspace could change which {name} runs")
    if any(workspace.place(folder).inside for folder in library_folders()):
        raise NotUnderstood("programs would load libraries from the workspace (LD_LIBRARY_PATH)")


def _folders_after(command: SimpleCommand, folders: list[Path]) -> Iterator[Path]:
    """The folders that `cd` may lead to. It may also fail, or be in a pipe: then the folder stays the
    same."""
    word = command.arguments[0] if len(command.arguments) == 1 else Word("-")
    if word.text == "-" or word.is_glob or ".." in Path(word.text).parts or len(folders) >= _MOST_FOLDERS:
        raise NotUnderstood("Keen can't tell which folder it changes to")
    for folder in folders:
        yield folder / word.text


def _require_readable(path: Path, workspace: Workspace) -> None:
    if str(path) == os.devnull:
        return
    try:
        place = workspace.place(str(path))
    except ToolFailure as failure:
        raise NotUnderstood(str(failure)) from failure
    if not workspace.reads_freely(place):
        raise NotUnderstood(f"{path} is outside the workspace")
    if holds_secrets(place.name) or holds_secrets(path.name):
        raise Withheld(f"{place.name} may hold keys or passwords")
    if workspace.withholds(place):
        raise Withheld(f"one of your rules covers {place.name}")


def _require_no_secrets_below(
    paths: Sequence[Path], workspace: Workspace, *, are_hidden: bool = False
) -> None:
    """`are_hidden`: the sandbox hides secrets from the command, but not files that rules are about."""
    seen, rules = 0, any(rule.kind == "read" for rule in workspace.rules)
    if are_hidden and not rules:
        return
    for top in paths:
        for folder, folders, files in walk(top):
            if folders.count(".git") and not rules:
                folders.remove(".git")
            for name in files:
                if not are_hidden and holds_secrets(os.path.relpath(f"{folder}/{name}", workspace.root)):
                    raise Withheld(f"one of the files, {name}, may hold keys or passwords")
                if rules and workspace.withholds(workspace.place(f"{folder}/{name}")):
                    raise Withheld(f"one of your rules covers one of the files, {name}")
            seen += len(files)
            if seen > _MOST_BELOW:
                raise NotUnderstood("there are too many files to check for keys and passwords")


def _files(word: Word, folder: Path) -> Iterator[Path]:
    """The path itself, or the files that a pattern matches now. What `?` matches depends on the locale (é may
    be two characters), so it is treated like `*`."""
    if not word.is_glob:
        yield folder / word.text
        return
    parts = Path(word.text).parts
    patterns = [part for part in parts if re.search("[*?]", part)]
    if ".." in parts or any(fnmatchcase("..", part) and part[0] == "." for part in patterns):
        raise NotUnderstood(f"Keen can't tell where {word.text} points")
    if len(patterns) > _MOST_PATTERNS:
        raise NotUnderstood(f"{word.text} contains too many patterns")
    names = iglob(word.text.replace("?", "*"), root_dir=folder)  # noqa: PTH207 - of a folder that may be /
    found = list(islice(names, _MOST_FILES + 1))
    if len(found) > _MOST_FILES:
        raise NotUnderstood(f"{word.text} matches more than {_MOST_FILES:,} files")
    if any(name.startswith("-") for name in found):
        raise NotUnderstood(f"{word.text} matches a file that is named like an option")
    yield from (folder / name for name in found or [word.text])
