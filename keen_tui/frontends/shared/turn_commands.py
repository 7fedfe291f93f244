"""The commands about turns: going on, giving up, leaving."""

from __future__ import annotations

from keen_tui.frontends.shared.command import Command, CommandContext, controls_of


async def retry(context: CommandContext, words: str) -> None:
    """Go on with the turn that ended incomplete or failed, or try now what would be tried again later."""
    controls_of(context).retry()


async def discard(context: CommandContext, words: str) -> None:
    """Ask whether to give the incomplete turn up; take a failed message back at once."""
    from keen_tui.frontends.shared.questions import DiscardQuestion  # noqa: PLC0415 - not before the first paint

    session = context.session
    if session.pending is None or session.running:
        controls_of(context).discard()
        return
    choice = await context.ui.ask(DiscardQuestion(session.pending))
    if choice == "discard":
        controls_of(context).discard()
    elif choice == "retry":
        controls_of(context).retry()


async def compact(context: CommandContext, words: str) -> None:
    """Have the conversation summarised."""
    controls_of(context).compact(words)


async def leave(context: CommandContext, words: str) -> None:
    """Leave; asks first where a turn runs or an incomplete one waits."""
    from keen_tui.frontends.shared.questions import LeaveQuestion  # noqa: PLC0415 - not before the first paint

    session = context.session
    running, pending = session.running, session.pending
    if not (running or pending):
        context.ui.leave()
        return
    choice = await context.ui.ask(LeaveQuestion(pending, running, context.keeps_pending))
    if choice == "leave":
        context.ui.leave()
    elif choice == "retry":
        controls_of(context).retry()


RETRY = Command(
    id="retry",
    keys=("ctrl+r",),
    label="Retry the turn",
    slash=("retry",),
    hint="retry",
    help="resumes an incomplete turn, or ends the wait before a retry",
    does=retry,
)
DISCARD = Command(
    id="discard",
    keys=("ctrl+x",),
    label="Discard the incomplete turn",
    slash=("discard",),
    hint="discard",
    help="gives the incomplete turn up (asks); takes a failed message back",
    does=discard,
)
COMPACT = Command(
    id="compact",
    keys=(),
    label="Compact the conversation",
    slash=("compact",),
    takes="[focus]",
    help="summarises the conversation to make room; words say what matters most",
    does=compact,
)
LEAVE = Command(
    id="leave",
    keys=(),
    label="Leave",
    slash=("exit", "quit"),
    help="ends the program; asks where work is pending",
    does=leave,
)
