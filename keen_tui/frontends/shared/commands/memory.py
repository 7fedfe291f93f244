"""The commands about memory: the next request, and what later turns remember."""

from __future__ import annotations

from typing import cast, get_args

from keen_tui.domain.choices import PolicyName
from keen_tui.frontends.shared.commands.command import Command, CommandContext
from keen_tui.frontends.shared.pages import ContextPage
from keen_tui.text.units import size


async def compact(context: CommandContext, words: str) -> None:
    """Have the conversation summarised."""
    context.controls.compact(words)


async def next_request(context: CommandContext, words: str = "") -> None:
    """Show what the next request holds if the draft is sent now."""
    draft = context.ui.draft
    await context.ui.show(ContextPage(await context.controls.context(draft), draft))


async def resumed(context: CommandContext) -> str:
    """What the next request of a resumed session holds, beside the whole history; "" while something runs, or
    where there is nothing to compare."""
    if context.setup.controls is None or context.lacks_model or context.session.running:
        return ""
    sizes = await context.controls.next_sizes()
    if sizes.whole_bytes <= sizes.next_bytes or context.session.running:
        return ""
    whole = "all calls since the summary" if sizes.is_summarised else "the whole history"
    return f"Next request {size(sizes.next_bytes)}; {whole} would be {size(sizes.whole_bytes)}."


async def memory(context: CommandContext, words: str) -> None:
    """Choose how much of a finished turn later turns get, or edit what is remembered."""
    from keen_tui.frontends.shared.questions import MemoryQuestion

    session = context.session
    choice = await context.ui.ask(MemoryQuestion(session.policy))
    if choice == "edit":
        await next_request(context)
    elif choice == session.policy:
        context.ui.say(f"The memory policy is still {choice}.")
    elif choice in get_args(PolicyName):
        context.controls.set_policy(cast(PolicyName, choice))
        context.ui.confirm(f"Later turns get {choice}, from the next turn on.")


COMPACT = Command(
    id="compact",
    keys=(),
    label="Compact the conversation",
    slash=("compact",),
    takes="[focus]",
    help="summarises the conversation to make room; you can say what matters most",
    does=compact,
)
CONTEXT = Command(
    id="context",
    keys=(),
    label="Next request",
    slash=("context",),
    help="shows what the model gets if you send now, part by part, for each memory policy",
    restarts=True,
    does=next_request,
)
MEMORY = Command(
    id="memory",
    keys=(),
    label="Memory policy",
    slash=("memory",),
    help="sets how much later turns remember of a finished turn; edits TurnMemory",
    does=memory,
)
COMMANDS = (COMPACT, CONTEXT, MEMORY)
