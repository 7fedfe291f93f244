"""Opens the transcripts of sub-agents."""

from __future__ import annotations

from keen_tui.domain.display import AgentDisplay
from keen_tui.domain.errors import KeenError
from keen_tui.domain.own_tools import TASK
from keen_tui.frontends.shared.agents_port import AgentsPort
from keen_tui.frontends.tui.state.state import Block, ToolBlock
from keen_tui.frontends.tui.workspace.view import WorkspaceView


class AgentViewer:
    """Shows the sub-agent of a call, at work or as it was saved.

    Args:
        port: knows the sub-agents; None: nobody does, as in a replay.
    """

    def __init__(self, view: WorkspaceView, port: AgentsPort | None) -> None:
        self._view = view
        self._port = port

    def open_of_call(self, call_id: str | None) -> bool:
        """Open the sub-agent that this call began; False: it began none."""
        state = self._view.state
        blocks = (*reversed(state.live), *reversed(state.past))
        found = (block for block in blocks if isinstance(block, ToolBlock) and block.id == call_id)
        return self.open_of(next(found, None))

    def open_of(self, block: Block | None) -> bool:
        """Open the sub-agent that the call of this block began; False: it began none."""
        if not isinstance(block, ToolBlock) or block.name != TASK:
            return False
        self._view.work(self._open(block), "agent", instead=True)
        return True

    async def _open(self, block: ToolBlock) -> None:
        from keen_tui.frontends.tui.pages.agent import AgentScreen  # noqa: PLC0415 - not before the first paint

        if self._port is None:
            self._view.say("A replay shows no sub-agents. keen-tui replay shows the session of one.")
            return
        display = block.display
        session = display.session if isinstance(display, AgentDisplay) else ""
        try:
            watched = await self._port.watch(block.id, session)
        except KeenError as error:
            self._view.say(str(error))
            return
        view = self._view
        view.open_page(AgentScreen(view.look, view.glyphs, self._port, block.id, block.target, watched))
