"""Asks whether to keep the session's work tree when the person quits."""

from __future__ import annotations

import asyncio
import shlex
from typing import TYPE_CHECKING

from keen_tui.domain.errors import KeenError
from keen_tui.domain.events import Notice
from keen_tui.frontends.shared.pages import ChangesPage

if TYPE_CHECKING:
    from keen_tui.frontends.shared.commands.command import CommandContext
    from keen_tui.frontends.shared.port import FrontEndSetup
    from keen_tui.frontends.shared.tree_port import TreePort


async def may_part(context: CommandContext) -> bool:
    """Ask whether to keep the session's work tree. Returns whether to quit now: True if there is none, and if
    its state can't be read; then it is kept."""
    from keen_tui.frontends.shared.questions import TreeQuestion

    tree = context.setup.tree
    said = ""
    while tree:
        try:
            report = await tree.report()
        except KeenError as error:
            context.ui.say(str(error))
            return True
        match await context.ui.ask(TreeQuestion(tree.name, report, said)):
            case "leave":
                return True
            case "remove":
                tree.remove_at_end(with_changes=bool(report.changes))
                return True
            case "merge":
                said = await _merged(tree)
            case "patch":
                await _show_patch(context, tree)
                return False
            case _:
                return False
    return True


async def _merged(tree: TreePort) -> str:
    try:
        return await tree.merge()
    except KeenError as error:
        return str(error)


async def _show_patch(context: CommandContext, tree: TreePort) -> None:
    from keen_tui.frontends.shared.changes import shown_files

    file, changes = await tree.write_patch(), await tree.changes()
    if changes.files:
        files = await asyncio.to_thread(shown_files, changes)
        await context.ui.show(ChangesPage(changes, files))
    words = shlex.join(("git", "-C", str(tree.project), "apply", "--3way", str(file)))
    context.session.bus.publish(Notice(turn=0, text=f"The patch is written. To apply it: {words}"))


async def parting(setup: FrontEndSetup, way_back: str) -> str:
    """The last sentence once everything is closed: `way_back` says how the session goes on, "" if there is
    nothing to go on with. Removes the work tree if that was wanted."""
    tree = setup.tree
    if tree is None:
        return way_back
    if said := await tree.leave():
        return said
    return way_back or f"The work tree {tree.name} is kept: keen-tui --worktree {tree.name}"
