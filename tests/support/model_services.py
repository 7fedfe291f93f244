"""The choice of models with everything real: catalogue, keys, settings file, session, server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from keen_tui.agent.services.model_service import ModelService
from keen_tui.agent.turn.audience import PERSON
from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Reply
from keen_tui.domain.models import ModelInfo
from keen_tui.providers.catalog.choice import ModelChoice
from keen_tui.providers.not_configured import NotConfigured
from keen_tui.providers.registry import build_provider
from keen_tui.settings.config import load_settings
from keen_tui.wiring.parts import build_chooser
from keen_tui.wiring.sessions import SessionProgram, build_session
from tests.support.agent import Bench, EventLog

_ACME = """
id = "acme"
name = "Acme"
api = "openai-chat"
base_url = "{url}"
key_variables = ["ACME_KEY"]
[models.m1]
context_window = 1_000
price = {{ input = 1, output = 1 }}
[models.m2]
api = "anthropic"
reasons = true
efforts = ["low", "high"]
"""


@asynccontextmanager
async def model_service(
    tmp_path: Path, *script: Reply, key: str = "sk-acme", **flags: str
) -> AsyncIterator[tuple[ModelService, Bench, dict[str, str]]]:
    """The choice of models with a single provider, set up like in the program."""
    home = tmp_path / "home"
    (home / "providers").mkdir(parents=True)
    environ = {"KEEN_HOME": str(home), "ACME_KEY": key}
    async with ModelServer(script, models=("m1", "m3")) as server:
        (home / "providers" / "acme.toml").write_text(_ACME.format(url=server.base_url))
        flags = {name: value.format(url=server.base_url) for name, value in flags.items()}
        settings = load_settings({"retry_attempts": 1, **flags}, environ)
        chooser = build_chooser(environ)
        choice: ModelChoice | None = chooser.choice(settings) if settings.model else None
        provider = (
            build_provider(choice.model.api, choice.connection(30.0)) if choice else NotConfigured("none")
        )
        info = choice.model if choice else None
        session, _ = build_session(settings, tmp_path, provider, info, SessionProgram(audience=PERSON))
        session.set_mode("auto")
        log = EventLog(session.bus.subscribe())
        try:
            yield (
                ModelService(session, chooser, settings, choice, environ),
                Bench(session, log, server, provider),
                environ,
            )
        finally:
            await session.close()


def model(models: ModelService, id: str) -> ModelInfo:
    (acme,) = [provider for provider in models.providers if provider.id == "acme"]
    return next(each for each in acme.models if each.id == id)
