"""Splits a command into steps, so that git's own steps can run separately, on their own terms. Pure except
for `cd`."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from keen_tui.tools.permissions.shell.git_readers import git_paths
from keen_tui.tools.permissions.shell.git_writers import GitCommand, git_writer
from keen_tui.tools.permissions.shell.grammar import (
    Item,
    NotUnderstood,
    SimpleCommand,
    items,
    simple_commands,
)
from keen_tui.tools.permissions.shell.literals import with_plain_texts

_CHANGE_THE_SHELL: Final = frozenset(
    """
    . source exec exit return set shopt export declare typeset local readonly unset alias unalias umask ulimit
    trap eval hash enable builtin command pushd popd getopts read mapfile readarray wait jobs bg fg disown let
    logout suspend times break continue
    """.split()  # noqa: SIM905 - a list of forty quoted names is no easier to read
)
"""These affect the commands after them, which then must run in the same shell."""


class PlannedStep(Struct, frozen=True, kw_only=True):
    """One step of a list of commands: `git` if it is a git command that may write the repository, `folder` if
    it is a `cd`, else `text` for the shell."""

    joined: Literal["&&", "||", ";"]
    text: str
    git: GitCommand | None = None
    folder: str | None = None


def plan_of(command: str) -> tuple[PlannedStep, ...]:
    """The steps; () if the command has no everyday git command that writes, or can't be split without
    changing its meaning."""
    try:
        steps = tuple(_step(item) for item in items(with_plain_texts(command)))
    except NotUnderstood:
        return ()
    return steps if any(step.git for step in steps) else ()


def _step(item: Item) -> PlannedStep:
    only = item.only
    if only and only.name == "git" and not _reads(only):
        return PlannedStep(joined=item.joined, text=item.text, git=git_writer(only))
    if only and only.name == "cd":
        return PlannedStep(joined=item.joined, text=item.text, folder=_folder(only))
    for command in simple_commands(item.text, files=True):
        if command.name in _CHANGE_THE_SHELL or command.name == "cd":
            raise NotUnderstood(f"{command.name} changes the shell that runs it")
        if command.name == "git" and not _reads(command):
            raise NotUnderstood("the output of git goes through a pipe or into a file")
    return PlannedStep(joined=item.joined, text=item.text)


def _reads(command: SimpleCommand) -> bool:
    try:
        list(git_paths(command.arguments))
    except NotUnderstood:
        return False
    return True


def _folder(command: SimpleCommand) -> str:
    if len(command.arguments) != 1 or command.arguments[0].is_glob:
        raise NotUnderstood("Keen can't know which folder it changes to")
    folder = command.arguments[0].text
    if folder.startswith(("-", "~")) or ".." in Path(folder).parts:
        raise NotUnderstood("Keen can't know which folder it changes to")
    return folder
