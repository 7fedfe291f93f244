"""The commands about turns: retry, discard, steer, leave."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from keen_tui.domain.errors import ConfigError, SessionRefused
from keen_tui.frontends.shared.commands.command import Command, CommandContext, WordsRefused, kept

if TYPE_CHECKING:
    from keen_tui.frontends.shared.port import FrontEndSetup, OffersPort, SettingsPort

_DURABLE: Final = "pending.durable"
"""The setting that keeps incomplete turns on disk, and the name of the offer to set it."""


async def retry(context: CommandContext, words: str) -> None:
    """Retry the turn that ended incomplete or failed, or make an automatic retry now."""
    context.controls.retry()


async def discard(context: CommandContext, words: str) -> None:
    """Ask whether to discard the incomplete turn; remove a failed message at once."""
    from keen_tui.frontends.shared.questions import TURN_KEPT, DiscardQuestion

    session = context.session
    if session.pending is None or session.running:
        context.controls.discard()
        return
    choice = await context.ui.ask(DiscardQuestion(session.pending))
    if choice == "discard":
        context.controls.discard()
    elif choice == "retry":
        context.controls.retry()
    elif choice == "keep":
        context.ui.say(TURN_KEPT)


async def keep_on_disk(context: CommandContext, words: str) -> None:
    """Keep incomplete turns on disk from now on, or only in memory again: at once, and in the settings."""
    history = kept(context.setup.history, "Sessions aren't saved here.")
    settings = kept(context.setup.settings, "There are no settings to change here.")
    written = {"": "true", "on": "true", "off": "false"}.get(words.strip().lower())
    if written is None:
        raise WordsRefused("Write /durable on or /durable off.")
    durable = settings.change(_DURABLE, written)
    history.keep_pending(durable)
    context.ui.confirm(f"Incomplete turns are kept {'on disk' if durable else 'in memory only'} from now on.")


async def offers_disk(setup: FrontEndSetup) -> bool:
    """Whether to offer now that incomplete turns are kept on disk: once, unless the user has decided."""
    history, settings, offers = setup.history, setup.settings, setup.offers
    if not (history and settings and offers) or history.keeps_pending:
        return False
    return await asyncio.to_thread(_is_first_offer, settings, offers)


def _is_first_offer(settings: SettingsPort, offers: OffersPort) -> bool:
    try:
        is_decided = any(each.source for each in settings.all() if each.name == _DURABLE)
    except ConfigError:
        return False
    return not is_decided and offers.first_time(_DURABLE)


async def steer(context: CommandContext, words: str) -> None:
    """Send a message into the running turn, or the oldest that is queued."""
    if not (words or context.session.queue):
        raise SessionRefused("Write a message after it, such as: /steer use tabs")
    context.controls.steer(words)


async def leave(context: CommandContext, words: str) -> None:
    """Leave; asks first if a turn or a review runs, an incomplete turn is pending, commands run in the
    background, or the session has a work tree of its own. While a turn runs, that work tree isn't asked about
    and stays."""
    if await may_leave(context):
        context.ui.leave()


async def may_leave(context: CommandContext) -> bool:
    """Whether to leave; asks where `leave` does. If the answer is to retry the turn, that is done."""
    from keen_tui.frontends.shared.commands.work_tree import may_part
    from keen_tui.frontends.shared.questions import STAYED, LeaveQuestion

    session = context.session
    running, pending = session.running, session.pending
    choice = "leave"
    tasks = context.setup.tasks.tasks() if context.setup.tasks else ()
    going = tuple(task.command for task in tasks if task.running)
    review = _reviewed(context.setup)
    if running or pending or going or review:
        durable = context.setup.keeps_pending
        choice = await context.ui.ask(LeaveQuestion(pending, running, durable, going, review))
    if choice == "leave":
        return session.running or await may_part(context)
    if choice == "retry":
        context.controls.retry()
    elif choice == "keep":
        context.ui.say(STAYED)
    return False


def _reviewed(setup: FrontEndSetup) -> str:
    """Which changes are being reviewed, "" if no review runs."""
    reviews = setup.reviews
    return reviews.newest.scope.title if reviews and reviews.running and reviews.newest else ""


RETRY = Command(
    id="retry",
    keys=("ctrl+r",),
    in_browser="alt+r",
    label="Retry the turn",
    slash=("retry",),
    hint="retry",
    help="continues an incomplete turn, or retries without waiting",
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
KEEP_ON_DISK = Command(
    id="keep_on_disk",
    keys=("f6",),
    in_browser="alt+k",
    label="Keep incomplete turns on disk",
    slash=("durable",),
    takes="[on|off]",
    help="keeps incomplete turns on disk from now on; /durable off keeps them in memory only",
    does=keep_on_disk,
)
COMMANDS = (RETRY, DISCARD, KEEP_ON_DISK)

STEER = Command(
    id="steer",
    keys=("ctrl+s",),
    in_browser="alt+s",
    label="Steer the running turn",
    slash=("steer",),
    takes="[message]",
    help="sends your text, or the oldest queued message, into the running turn",
    does=steer,
)
LEAVE = Command(
    id="leave",
    keys=(),
    label="Quit",
    slash=("exit", "quit"),
    help="quits Keen; asks first if work is pending",
    does=leave,
)
