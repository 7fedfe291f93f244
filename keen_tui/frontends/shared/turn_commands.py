"""The commands about turns: retry, discard, steer, leave."""

from __future__ import annotations

from keen_tui.domain.errors import SessionRefused
from keen_tui.frontends.shared.command import Command, CommandContext
from keen_tui.frontends.shared.questions import DiscardQuestion, LeaveQuestion


async def retry(context: CommandContext, words: str) -> None:
    """Retry the turn that ended incomplete or failed, or make an automatic retry now."""
    context.controls.retry()


async def discard(context: CommandContext, words: str) -> None:
    """Ask whether to discard the incomplete turn; remove a failed message at once."""
    session = context.session
    if session.pending is None or session.running:
        context.controls.discard()
        return
    choice = await context.ui.ask(DiscardQuestion(session.pending))
    if choice == "discard":
        context.controls.discard()
    elif choice == "retry":
        context.controls.retry()


async def steer(context: CommandContext, words: str) -> None:
    """Send a message into the running turn, or the oldest that is queued."""
    if not (words or context.session.queue):
        raise SessionRefused("Write a message after it, such as: /steer use tabs")
    context.controls.steer(words)


async def leave(context: CommandContext, words: str) -> None:
    """Leave; asks first if a turn runs or an incomplete one is pending."""
    session = context.session
    running, pending = session.running, session.pending
    if not (running or pending):
        context.ui.leave()
        return
    choice = await context.ui.ask(LeaveQuestion(pending, running, context.setup.keeps_pending))
    if choice == "leave":
        context.ui.leave()
    elif choice == "retry":
        context.controls.retry()


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
    help="discards the incomplete turn (asks first), or edits a failed message",
    does=discard,
)
COMMANDS = (RETRY, DISCARD)

STEER = Command(
    id="steer",
    keys=("ctrl+s",),
    label="Steer the running turn",
    slash=("steer",),
    takes="[message]",
    help="sends your text, or the oldest queued message, into the running turn",
    does=steer,
)
LEAVE = Command(
    id="leave",
    keys=(),
    label="Leave",
    slash=("exit", "quit"),
    help="leaves Keen; asks first if work is pending",
    does=leave,
)
