"""Builds the workspace in steps before it is shown, because all of them together would keep a key waiting."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from keen_tui.frontends.tui.terminal.message_queues import drained

if TYPE_CHECKING:
    from keen_tui.frontends.tui.screen.workspace import WorkspaceScreen
    from keen_tui.frontends.tui.terminal.terminal_app import TerminalApp


async def mount_panes(
    workspace: WorkspaceScreen, answer_keys: Callable[[], Awaitable[None]] | None = None
) -> None:
    """Fill the mounted frame of the workspace, and draw its state. `answer_keys` is awaited behind each
    pane."""
    main, conversation, stage = workspace.main, workspace.conversation, workspace.stage
    for parent, pane in (
        (main, conversation),
        (conversation, stage),
        (stage, workspace.welcome),
        (stage, workspace.transcript),
        (conversation, workspace.notice),
        (conversation, workspace.strip),
        (conversation, workspace.guide),
        (conversation, workspace.disk_offer),
        (conversation, workspace.completions),
        (conversation, workspace.composer),
        (conversation, workspace.question_pane),
        (main, workspace.sidebar),
    ):
        await parent.mount(pane)
        if answer_keys:
            await answer_keys()
    workspace.begin_to_show()


async def draw_ahead(
    app: TerminalApp[Any], workspace: WorkspaceScreen, answer_keys: Callable[[], Awaitable[None]]
) -> None:
    """Lay out and draw the workspace while the entrance still shows what is typed, so that neither keeps a
    key waiting later. Awaits `answer_keys` before, between and after the two steps."""
    await answer_keys()
    app.lay_out_unseen(workspace)
    await answer_keys()
    await drained(workspace)
    app.draw_unseen(workspace)
    await answer_keys()
