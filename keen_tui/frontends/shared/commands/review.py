"""The command about reviews: begins one, shows the newest, ends the one that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from keen_tui.domain.errors import SessionRefused
from keen_tui.frontends.shared.commands.command import Command, CommandContext, WordsRefused, kept
from keen_tui.text.nearest import misspelt

if TYPE_CHECKING:
    from keen_tui.domain.review import ReviewWish
    from keen_tui.frontends.shared.review_port import ReviewsPort

_NONE: Final = "There are no reviews here."
_USAGE: Final = (
    "Write /review, /review base BRANCH, /review commit REV or /review uncommitted, then what to look for; "
    "/review show and /review stop work on the newest one."
)


async def review(context: CommandContext, words: str) -> None:
    """Review changes in a session of its own, and show what was found."""
    from keen_tui.frontends.shared.pages import ReviewPage

    port = kept(context.setup.reviews, _NONE)
    match words.split():
        case ["stop"]:
            _stop(context, port)
            return
        case ["show"]:
            if port.newest is None:
                raise SessionRefused("Nothing was reviewed yet.")
        case [] if port.running:
            pass
        case given:
            wish = _wish(given)
            if context.lacks_model:
                raise SessionRefused("No model is chosen yet: choose one with /model.")
            await port.begin(wish)
    await context.ui.show(ReviewPage(port))


def _stop(context: CommandContext, port: ReviewsPort) -> None:
    if not port.running:
        raise SessionRefused("No review is running.")
    port.stop()
    context.ui.say("Stopping the review.")


def _wish(words: list[str]) -> ReviewWish:
    """The changes that the words name. Raises WordsRefused."""
    from keen_tui.domain.review import ReviewWish

    match words:
        case [word] if meant := misspelt(word, ("show", "stop")):
            raise WordsRefused(f"{word!r} would be the focus of a review. Did you mean {meant[0]}?")
        case ["base" | "commit"]:
            raise WordsRefused(_USAGE)
        case ["uncommitted", *focus]:
            return ReviewWish("uncommitted", focus=" ".join(focus))
        case ["base" | "commit" as kind, name, *focus]:
            return ReviewWish(kind, name, " ".join(focus))
    return ReviewWish(focus=" ".join(words))


REVIEW = Command(
    id="review",
    keys=(),
    label="Review changes",
    slash=("review",),
    takes="[base BRANCH|commit REV|uncommitted] [FOCUS]",
    help="looks for bugs in changes, without changing anything: /review base main; /review show",
    does=review,
)
COMMANDS = (REVIEW,)
