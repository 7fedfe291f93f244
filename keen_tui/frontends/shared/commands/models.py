"""The commands about models: choosing one, testing the connection, keys and servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keen_tui.frontends.shared.commands.command import Command, CommandContext, kept
from keen_tui.frontends.shared.commands.turns import may_leave
from keen_tui.frontends.shared.pages import KeyPage, ModelsPage, ServerPage

if TYPE_CHECKING:
    from keen_tui.domain.models import ModelInfo
    from keen_tui.frontends.shared.port import ModelsPort


async def choose(context: CommandContext, words: str) -> None:
    """Choose a model, and its effort; one that is named exactly is used at once. In the tour on the screen,
    leave it for a session with the chosen model."""
    if context.setup.is_tour:
        if await may_leave(context):
            context.ui.leave(to_models=True)
        return
    models = choice(context)
    named = [
        model
        for provider in models.providers
        for model in provider.models
        if words.casefold() in (model.id.casefold(), model.title.casefold())
    ]
    if words and len(named) == 1:
        await use(context, named[0], "")
    else:
        await context.ui.show(ModelsPage(models, words))


async def check(context: CommandContext, words: str) -> None:
    """Test the connection to the model's server."""
    models = choice(context)
    context.ui.say(await context.ui.wait(models.check(), server_of(models, models.current)))


async def enter_key(context: CommandContext, words: str) -> None:
    """Take an API key."""
    await context.ui.show(KeyPage(choice(context)))


async def name_server(context: CommandContext, words: str) -> None:
    """Take the address of a model server, or ask the server at that address."""
    await context.ui.show(ServerPage(choice(context), words))


async def use(context: CommandContext, model: ModelInfo, effort: str) -> None:
    """Use this model from the next turn on; ask first where that would lose the incomplete turn (turn.md
    rule 8). Raises KeenError."""
    from keen_tui.frontends.shared.questions import SwitchQuestion

    models, session = choice(context), context.session
    pending = session.pending if models.would_abandon(model) and not session.running else None
    answer = await context.ui.ask(SwitchQuestion(pending, model.title)) if pending else "switch"
    if answer == "switch":
        context.ui.say(models.choose(model, effort=effort, abandon=pending is not None))
    elif answer == "retry":
        context.controls.retry()


def choice(context: CommandContext) -> ModelsPort:
    """The choice among models. Raises SessionRefused: there is none."""
    return kept(context.setup.models, "There is no other model to choose here.")


def server_of(models: ModelsPort, model: ModelInfo | None) -> str:
    """The name of the provider that serves the model."""
    names = (each.name for each in models.providers if model and each.id == model.provider)
    return next(names, "the server")


MODELS = Command(
    id="models",
    keys=("f2",),
    in_browser="alt+y",
    label="Choose a model",
    hint="models",
    slash=("model", "models"),
    takes="[name]",
    help="chooses model and effort, tests the connection, saves API keys; /model NAME switches at once",
    does=choose,
)
CHECK = Command(
    id="check_connection",
    keys=(),
    label="Test the connection",
    slash=("check",),
    help="checks that the model's server answers",
    restarts=True,
    does=check,
)
KEY = Command(
    id="enter_key",
    keys=(),
    label="Enter an API key",
    slash=("key",),
    help="saves an API key in the system keyring, or in a file that only you can read",
    does=enter_key,
)
SERVER = Command(
    id="name_server",
    keys=(),
    label="Another model server",
    slash=("server",),
    takes="[address]",
    help="uses an OpenAI-compatible server: /server http://gpu-box:8000/v1",
    does=name_server,
)
COMMANDS = (MODELS, CHECK, KEY, SERVER)
