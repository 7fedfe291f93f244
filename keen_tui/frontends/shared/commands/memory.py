"""The commands about memory: the next request, and what later turns remember."""

from __future__ import annotations

from typing import Final, cast, get_args

from keen_tui.domain.choices import PolicyName
from keen_tui.frontends.shared.commands.command import Command, CommandContext, WordsRefused
from keen_tui.frontends.shared.pages import ContextPage
from keen_tui.text.nearest import did_you_mean, either
from keen_tui.text.units import size

POLICY_CHOSEN: Final = (
    "{policy} holds in this session, from the next turn on. To keep it, set memory.policy in /settings."
)


async def compact(context: CommandContext, words: str) -> None:
    """Have the conversation summarised."""
    context.controls.compact(words)


async def next_request(context: CommandContext, words: str = "") -> None:
    """Show what the next request holds if the draft is sent now."""
    draft = context.ui.draft
    await context.ui.show(ContextPage(await context.controls.context(draft), draft))


async def resumed(context: CommandContext) -> str:
    """Returns the size of the next request of a resumed session, beside that of the whole history; "" while
    something runs, or if there is nothing to compare."""
    if context.setup.controls is None or context.lacks_model or context.session.running:
        return ""
    sizes = await context.controls.next_sizes()
    if sizes.whole_bytes <= sizes.next_bytes or context.session.running:
        return ""
    whole = "all calls since the summary" if sizes.is_summarised else "the whole history"
    return f"Next request {size(sizes.next_bytes)}; {whole} would be {size(sizes.whole_bytes)}."


async def memory(context: CommandContext, words: str) -> None:
    """Choose how much of a finished turn later turns get: the policy that `words` name, or an answer. The
    screen shows the next request instead, where the policies stand side by side."""
    from keen_tui.frontends.shared.questions import MemoryQuestion

    policies = get_args(PolicyName)
    if words and words not in policies:
        hint = did_you_mean(words, policies) or f" Choose {either(policies)}."
        raise WordsRefused(f"There is no memory policy {words}.{hint}")
    session = context.session
    choice = words or await context.ui.ask(MemoryQuestion(session.policy))
    if choice == session.policy:
        context.ui.say(f"The memory policy is still {choice}.")
    elif choice in policies:
        context.controls.set_policy(cast(PolicyName, choice))
        context.ui.confirm(POLICY_CHOSEN.format(policy=choice))


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
    label="Memory",
    slash=("memory",),
    takes="[policy]",
    help="shows and edits what later turns remember, and sets the policy",
    does=memory,
)
COMMANDS = (COMPACT, CONTEXT, MEMORY)
