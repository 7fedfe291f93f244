"""Asks about files that a command created and that would run code later."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from msgspec.structs import replace

from keen_tui.agent.turn.host_approvals import Ask, Remember
from keen_tui.domain.choices import Mode
from keen_tui.domain.errors import NOBODY
from keen_tui.domain.events import Event, Notice
from keen_tui.domain.messages import ToolCall
from keen_tui.tools.calls.tool import PreparedCall
from keen_tui.tools.permissions.permissions import Grant, Verdict
from keen_tui.tools.quarantine.new_entries import SearchScope
from keen_tui.tools.quarantine.new_files import NewFiles

MADE = "made"
"""The grant kind for files that commands create."""
_BUILD_FILES: Grant = (MADE, "build files")


class NewFileApprovals:
    """Decides what happens to such files. `ask`, `remember`, `publish`, `mode` and `granted` are those of
    `Approvals`."""

    def __init__(
        self,
        ask: Ask,
        remember: Remember,
        publish: Callable[[Event], None],
        *,
        mode: Callable[[], Mode],
        granted: set[Grant],
    ) -> None:
        self._ask = ask
        self._remember = remember
        self._publish = publish
        self._mode = mode
        self._granted = granted

    def attend(self, prepared: PreparedCall) -> None:
        """Watch a call that nobody approved: look for new files that an edit would have to ask about in this
        mode.

        In auto mode an edit of such a file doesn't ask. A folder that git would take for a repository is
        looked for all the same: nobody expects one there, and its settings would run outside the sandbox.
        """
        if prepared.new_files is not None:
            prepared.new_files.scope = self._scope()

    def _scope(self) -> SearchScope:
        if self._mode() == "auto":
            return "repositories"
        return "acting" if _BUILD_FILES in self._granted else "everything"

    async def settle(self, turn: int, call: ToolCall, target: str, prepared: PreparedCall) -> str:
        """Ask about the files that were set aside, and act on the answer; returns the note for the model."""
        new = prepared.new_files
        if new is None or not new.names:
            return ""
        if new.scope == "repositories":
            self.report(turn, new)
            return f"{_set_aside(new)}; it is in {_places(new)}"
        shown = await asyncio.to_thread(new.display)
        verdict = _verdict(new)
        reply = await self._ask(turn, call, target, replace(prepared, display=shown), verdict)
        if reply.allowed:
            await self._remember(turn, reply, verdict)
            problem = await asyncio.to_thread(new.put_back)
            return problem or f"created after the user approved: {new.listed}"
        self.report(turn, new)
        if reply.by == "headless":
            return f"{_set_aside(new)}; {reply.message}"
        await asyncio.to_thread(new.settle)
        said = f" and says: {reply.message}" if reply.message else ""
        return f"{_set_aside(new)}; the user said no{said}. Don't create them in another way"

    def report(self, turn: int, new: NewFiles) -> None:
        """Tell the person where the files are."""
        self._publish(Notice(turn=turn, text=f"Set aside in {_places(new)}: {new.listed}."))


def undecided(new: NewFiles) -> str:
    """The note for the model if the turn was stopped before anybody decided."""
    return f"{_set_aside(new)}; the user hasn't decided about it yet"


def _verdict(new: NewFiles) -> Verdict:
    builds = new.only_builds
    return Verdict(
        decision="ask",
        question=f"Keep {new.in_short}{', which makes a git repository' if new.programs else ''}?",
        why=_why(new),
        grant="allow build files that commands create, for this session" if builds else None,
        grant_key=_BUILD_FILES if builds else None,
        nobody=f"{NOBODY}; {_way_out(new)}",
        is_risky=not builds or new.holds_secrets,
    )


def _why(new: NewFiles) -> str:
    if new.programs:
        programs = ", ".join(new.programs)
        return f"git would obey the settings and hooks of that repository, which run programs: {programs}"
    what = "a file that can run code" if len(new.names) == 1 else "files that can run code"
    when = "when you build or test" if new.only_builds else "as soon as you open the folder or use git there"
    return f"the command created {what} {when}"


def _way_out(new: NewFiles) -> str:
    return f"it is in {_places(new)}" + ("" if new.programs else ", and --mode auto allows it")


def _set_aside(new: NewFiles) -> str:
    if new.programs:
        why = f"git would treat the folder as a repository and obey {', '.join(new.programs)}"
    else:
        why = "it can run code later, so the user has to approve it"
    return f"set aside, and no longer in the workspace: {new.listed}, because {why}"


def _places(new: NewFiles) -> str:
    return " and ".join(new.places)
