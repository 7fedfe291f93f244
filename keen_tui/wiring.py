"""The one place that builds real objects from settings."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from keen_tui.agent.retries import RetryPolicy
from keen_tui.agent.session import Session
from keen_tui.config import Settings
from keen_tui.models import ModelInfo
from keen_tui.providers.base import Connection, Provider
from keen_tui.providers.not_configured import NotConfigured
from keen_tui.providers.openai_chat import OpenAIChat
from keen_tui.providers.openai_client import OPENAI_URL
from keen_tui.tools.toolbox import build_toolbox

if TYPE_CHECKING:
    from keen_tui.ui.app import KeenApp


def build_session(settings: Settings, workspace: Path, *, attended: bool) -> Session:
    """A session in `workspace` that speaks to the server the settings name."""
    return Session(
        workspace=workspace,
        provider=build_provider(settings),
        toolbox=build_toolbox(workspace),
        mode=settings.mode,
        attended=attended,
        max_steps=settings.max_steps,
        retries=RetryPolicy(attempts=settings.retry_attempts),
        info=_info(settings),
    )


def build_provider(settings: Settings) -> Provider:
    """The client of the API that the settings name. Cheap: no SDK is imported yet."""
    if missing := settings.missing():
        return NotConfigured(missing)
    connection = Connection(
        model=settings.model,
        base_url=settings.base_url or OPENAI_URL,
        api_key=settings.api_key,
        key_source=settings.api_key_env,
        stall_seconds=settings.stall_seconds,
    )
    return OpenAIChat(connection)


def _info(settings: Settings) -> ModelInfo:
    window = settings.context_window or None
    return ModelInfo(provider="openai", id=settings.model, api=settings.api, context_window=window)


def run_screen(
    session: Session,
    settings: Settings,
    *,
    themes: Path,
    intro: tuple[str, ...] = (),
    companion: Callable[[KeenApp], Awaitable[None]] | None = None,
) -> None:
    """Show the session on the screen until the user leaves. `themes` is the folder of the user's themes."""
    from keen_tui.ui.app import UiSettings, run_workspace  # noqa: PLC0415 - the core needs no screen

    look = UiSettings(
        theme=settings.theme,
        reduced_motion=settings.reduced_motion,
        glyphs=settings.glyphs,
        mouse=settings.mouse,
        user_themes=themes,
    )
    asyncio.run(run_workspace(session, settings=look, intro=intro, companion=companion))
