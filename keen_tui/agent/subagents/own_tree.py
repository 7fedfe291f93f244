"""The git work tree of a sub-agent with `isolation: worktree` in its definition (decision 28).

If nothing was changed in it, it is removed when the sub-agent has finished; otherwise it stays until the user
removes it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import Final

from msgspec.structs import replace

from keen_tui.domain.errors import KeenError
from keen_tui.domain.facts.command_unwatched import CommandUnwatched
from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.domain.facts.work_tree_changed import WorkTreeChanged
from keen_tui.domain.messages import Fact
from keen_tui.system.presence import Presence
from keen_tui.system.work_tree_records import project_folder
from keen_tui.text.units import counted
from keen_tui.tools.git.linked_tree import WorkTreeState
from keen_tui.tools.git.work_trees import Begun, WorkTrees

_OTHERWISE: Final = "leave isolation: worktree out of the sub-agent's definition"
_LONGEST: Final = 40
"""The most characters of the sub-agent's name in the name of its work tree."""


class OwnTree:
    """The work tree of one sub-agent. While this object isn't left, the program counts as open in it.

    Args:
        begun: the work tree.
        workspace: the folder of the parent.
        environ: the environment, which names the data folder.

    `has_changed`: a call changed something in it, or may have. `was_gone`: the work tree had to be created
    again, so earlier work of the sub-agent is in it only as far as it was committed.
    """

    def __init__(self, begun: Begun, workspace: Path, environ: Mapping[str, str]) -> None:
        self.was_gone = begun.was_gone
        self._tree = begun.tree
        self._workspace = os.path.realpath(workspace)
        in_project = os.path.realpath(project_folder(workspace, environ))
        self._caller = os.path.relpath(in_project, begun.tree.record.project)
        self._presence = Presence(environ, begun.tree.path)
        self._presence.enter()
        self.has_changed = False

    @property
    def path(self) -> Path:
        """Its folder."""
        return self._tree.path

    @property
    def fact(self) -> WorkTreeChanged:
        """The fact that something was changed in it."""
        return WorkTreeChanged(name=self._tree.record.name, branch=self._tree.record.branch)

    def outward(self, facts: Sequence[Fact]) -> tuple[Fact, ...]:
        """The sub-agent's facts as facts of its parent. One fact about the work tree replaces those about the
        files in it; files elsewhere are named by their paths from the parent's workspace."""
        kept = tuple(own for fact in facts if (own := self._outward(fact)))
        if len(kept) == len(facts):
            return kept
        self.has_changed = True
        return (*kept, self.fact)

    def _outward(self, fact: Fact) -> Fact | None:
        if isinstance(fact, CommandUnwatched):
            return None
        if not isinstance(fact, FileChanged):
            return fact
        if not fact.path.startswith("../"):
            return None
        return replace(fact, path=os.path.relpath(self.path / fact.path, self._workspace))

    @property
    def place(self) -> str:
        """A text for the parent's model: where the work tree is."""
        branch = self._tree.record.branch
        return (
            f"It worked in its own git work tree, {self.path}, on the branch {branch}. "
            "Your workspace doesn't have its changes."
        )

    @property
    def role(self) -> str:
        """A text for the sub-agent's system prompt: where it works and what that means."""
        record = self._tree.record
        begin = f"{record.base or 'the commit'} {record.commit[:10]}".strip()
        below = "- You work at the top of the repository. Paths in the task may be relative to the caller's "
        below = f"{below}folder, {self._caller}.\n" if self._caller != "." else ""
        return (
            f"You work in your own git work tree, on the branch {record.branch}, begun at {begin}.\n"
            "- The caller works in another folder. Nothing that you do here changes that folder.\n"
            f"{below}"
            "- The caller's uncommitted changes aren't here, nor are files that git ignores: install what "
            "you need.\n"
            "- Commit your work on your branch when it is done: the caller can only merge commits.\n"
        )

    def look(self) -> WorkTreeState:
        """Its state, which is also noted in `has_changed`: a call that was killed may have changed something.
        Blocks. Raises KeenError if git can't say."""
        try:
            state = self._tree.state()
        except KeenError:
            self.has_changed = True
            raise
        self.has_changed = self.has_changed or state.is_changed or bool(state.ahead)
        return state

    def leave(self, *, finished: bool) -> str:
        """Call this when the sub-agent stops working in it. An unchanged work tree is removed if the
        sub-agent has `finished` and no other program works there. Returns a text for the parent's model about
        what the work tree holds, "" if it was removed. Blocks; never raises."""
        is_used = bool(self._presence.others())
        self._presence.leave()
        try:
            state = self.look()
            if finished and not (self.has_changed or is_used):
                self._tree.remove()
                return ""
        except KeenError as error:
            return f"{self.place} Keen can't tell what changed there: {error}"
        return f"{self.place} {self._holds(state)}"

    def _holds(self, state: WorkTreeState) -> str:
        (tip, branch), own = self._tree.checked_out(), self._tree.record.branch
        base = state.base or self._tree.record.commit[:10]
        work = quote((branch or tip[:10]) if state.ahead else own)
        commits = f"{counted(state.commits, 'commit')} that no other branch has" if state.commits else ""
        commits = f"{counted(state.ahead, 'commit')} not in {base}" if state.ahead else commits
        files = f"{counted(state.files, 'file')} with uncommitted changes" if state.files else ""
        holds = " and ".join(filter(None, (commits, files))) or "no changes"
        if branch != own:
            holds = f"{holds}, with {f'the branch {branch}' if branch else 'no branch'} checked out"
        merge = f" git diff {quote(base)}...{work} shows the commits, git merge {work} merges them."
        return f"It has {holds}, and stays until the user removes it.{merge if commits else ''}"


def enter_tree(
    workspace: Path, agent: str, session_id: str, environ: Mapping[str, str] = os.environ
) -> OwnTree:
    """The work tree of the sub-agent `agent`: a new one, or the one in which it broke off. Blocks.

    Args:
        session_id: the id of the sub-agent's session, "" if the session isn't saved.

    Raises:
        KeenError: a work tree isn't possible here.
    """
    begun = WorkTrees(environ, _OTHERWISE).begin(workspace, _name(agent, session_id), agent=agent)
    return OwnTree(begun, workspace, environ)


def forget_tree(
    workspace: Path, agent: str, session_id: str, environ: Mapping[str, str] = os.environ
) -> None:
    """Remove the work tree of a sub-agent that broke off and won't be continued, if nothing was changed in
    it. Blocks; never raises."""
    with suppress(KeenError):
        for tree in WorkTrees(environ, _OTHERWISE).all():
            if tree.path.name == _name(agent, session_id) and tree.record.agent == agent:
                begun = Begun(tree=tree, is_new=False, was_gone=False)
                OwnTree(begun, workspace, environ).leave(finished=True)


def _name(agent: str, session_id: str) -> str:
    """The name of its work tree; "" if its session isn't saved."""
    number = session_id.rpartition("-")[2]
    return f"{re.sub('[^a-z0-9-]', '', agent)[:_LONGEST]}-{number}" if number else ""
