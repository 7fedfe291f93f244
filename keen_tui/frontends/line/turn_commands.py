"""The commands about turns: going on, giving up, looking back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.reports import POLICIES, Changes
from keen_tui.domain.spent import NOTHING, Spent
from keen_tui.frontends.line.asking import memory_question, yes_or_no
from keen_tui.frontends.line.command_context import LineContext
from keen_tui.frontends.line.displays import diff_lines
from keen_tui.frontends.shared.changes import ShownFile, shown_files
from keen_tui.frontends.shared.command import kept
from keen_tui.text.units import counted, dollars, size, tokens

_WHOLE_SESSION, _NEWEST = 0, -1


class TurnCommands:
    """Each method does what a command asks for; what can't be done is raised as a sentence."""

    def __init__(self, context: LineContext) -> None:
        self._context = context

    async def steer(self, words: str) -> None:
        """Hand a message to the running turn, or the oldest that is queued."""
        if not (words or self._context.session.queue):
            raise SessionRefused("Write a message after it, such as: /steer use tabs")
        self._context.controls.steer(words)

    async def memory(self, words: str) -> None:
        """Choose how much of a finished turn later turns get."""
        choice = await self._context.choice(memory_question(self._context.session.policy))
        if choice in POLICIES:
            self._context.controls.set_policy(choice)

    async def context(self, words: str) -> None:
        """Tell what the next request holds, part by part."""
        report = await self._context.controls.context()
        place = POLICIES.index(report.policy)
        self._context.say(f"The next request, under the memory policy {report.policy}:")
        for part in report.parts:
            held = part.sizes[place]
            title = f"{part.title}, {part.label}" if part.label else part.title
            self._context.say(f"{title}: {size(held.bytes)}, about {counted(held.tokens, 'token')}.")
        total = report.totals[place]
        window = f" of {tokens(report.window)}" if report.window else ""
        self._context.say(f"In all: {size(total.bytes)}, about {tokens(total.tokens)}{window} tokens.")

    async def usage(self, words: str) -> None:
        """Tell what was used, turn by turn and in all."""
        whole = NOTHING
        for turn, spent in sorted(self._context.stats.spent.items()):
            self._context.say(f"{f'Turn {turn}' if turn else 'Summaries and titles'}: {_figures(spent)}.")
            whole = whole.joined(spent)
        self._context.say(f"In all: {_figures(whole)}." if whole else "Nothing was used yet.")

    async def diff(self, words: str) -> None:
        """Tell what a turn changed, or the session, line by line."""
        changes, files = await self._changes(words, "diff", _WHOLE_SESSION)
        if not files:
            self._context.say(_nothing(changes))
            return
        whose = f"turn {changes.turn}" if changes.turn else "this session"
        self._context.say(f"Changes of {whose}: {counted(len(files), 'file')}.")
        for file in files:
            self._context.printer.read(_file_lines(file))
        self._context.printer.read(_not_covered(changes))

    async def undo(self, words: str) -> None:
        """Ask whether to take back what a turn changed."""
        context = self._context
        if context.session.running:
            raise SessionRefused("A turn is running. Stop it first, then undo.")
        if context.session.pending:
            raise SessionRefused("An incomplete turn waits: retry or discard it first, then undo.")
        changes, files = await self._changes(words, "undo", _NEWEST)
        if changes.undone:
            raise SessionRefused(f"The changes of turn {changes.turn} are undone already.")
        if not any(not file.unkept for file in files):
            raise SessionRefused(_nothing(changes))
        question = yes_or_no(*_undo_lines(changes, files), yes="yes, undo", no="no, keep them")
        if await context.choice(question) == "yes":
            problem = await kept(context.setup.changes, "No changes are kept here.").undo(changes.turn)
            context.say(problem or None)

    async def _changes(self, words: str, command: str, usual: int) -> tuple[Changes, Sequence[ShownFile]]:
        port = kept(self._context.setup.changes, "No changes are kept here.")
        if words and not (words.isdecimal() and int(words)):
            raise SessionRefused(f"/{command} takes the number of a turn, or nothing.")
        changes = await port.changes(int(words) if words else usual)
        return changes, await asyncio.to_thread(shown_files, changes)


def _figures(spent: Spent) -> str:
    sent = f"{spent.input_tokens:,} tokens sent, {spent.cached_tokens:,} of them cached"
    facts = f"{sent}, {spent.output_tokens:,} received"
    return facts if spent.cost is None else f"{facts}, {dollars(spent.cost)}"


def _file_lines(file: ShownFile) -> Iterator[str]:
    if file.diff:
        yield from diff_lines(file.diff)
    else:
        yield f"File {file.path}: {file.instead}"
    if file.note:
        yield f"This file is {file.note}."
    if file.changed_since:
        yield "It was changed since."


def _undo_lines(changes: Changes, files: Sequence[ShownFile]) -> Iterator[str]:
    yield f"Question: Restore these files to their state before turn {changes.turn}?"
    for file in files:
        notes = [file.note] if file.note else []
        notes += ["it was changed since"] if file.changed_since else []
        notes += ["it stays as it is"] if file.unkept else []
        yield ", ".join((f"File {file.path}: {file.added} added, {file.removed} removed", *notes)) + "."
    yield from _not_covered(changes)


def _not_covered(changes: Changes) -> Iterator[str]:
    if changes.commands:
        yield f"Changes made by shell commands can't be undone: {counted(changes.commands, 'command')} ran."


def _nothing(changes: Changes) -> str:
    whose = f"Turn {changes.turn}" if changes.turn else "This session"
    return " ".join((f"{whose} changed no files.", *_not_covered(changes)))
