"""The one place that builds real objects from settings."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from keen_tui.agent.history_desk import HistoryDesk
from keen_tui.agent.retries import RetryPolicy
from keen_tui.agent.session import Session
from keen_tui.agent.undo import TurnKeeper
from keen_tui.config import Settings
from keen_tui.history import SavedSession
from keen_tui.home import data_folder, home_folder
from keen_tui.keys import Keys
from keen_tui.models import ModelInfo
from keen_tui.providers.base import Provider
from keen_tui.providers.catalog import load_catalog
from keen_tui.providers.choice import Chooser
from keen_tui.storage.sessions import SessionStore
from keen_tui.tools.toolbox import build_toolbox

if TYPE_CHECKING:
    from keen_tui.ui.app import KeenApp
    from keen_tui.ui.port import HistoryPort, ModelsPort, SessionPort


def build_chooser(environ: Mapping[str, str]) -> Chooser:
    """The catalogue with the user's additions, and the keys."""
    home = home_folder(environ)
    return Chooser(load_catalog(home / "providers"), Keys(environ, home), environ)


def build_session(
    settings: Settings,
    workspace: Path,
    provider: Provider,
    info: ModelInfo | None,
    *,
    attended: bool,
    keeper: TurnKeeper | None = None,
) -> Session:
    """A session in `workspace` that speaks to the provider. `info` is what is known of its model; `keeper`
    keeps what its tools change."""
    return Session(
        workspace=workspace,
        provider=provider,
        toolbox=build_toolbox(workspace, keeper),
        mode=settings.mode,
        attended=attended,
        max_steps=settings.max_steps,
        retries=RetryPolicy(attempts=settings.retry_attempts),
        info=info,
        policy=settings.memory_policy,
        compact_at=settings.compact_at,
    )


def build_store(environ: Mapping[str, str]) -> SessionStore:
    """All saved sessions."""
    return SessionStore(data_folder(environ))


def build_saved_session(
    settings: Settings,
    workspace: Path,
    provider: Provider,
    info: ModelInfo | None,
    store: SessionStore,
    *,
    attended: bool,
) -> tuple[Session, HistoryDesk]:
    """A session that is saved, and the desk that saves it and puts others in its place."""
    keeper = TurnKeeper()
    session = build_session(settings, workspace, provider, info, attended=attended, keeper=keeper)
    return session, HistoryDesk(session, store, keeper, keeps_pending=settings.pending_durable)


def run_screen(
    session: SessionPort,
    settings: Settings,
    *,
    themes: Path,
    models: ModelsPort | None = None,
    history: HistoryPort | None = None,
    opening: SavedSession | None = None,
    companion: Callable[[KeenApp], Awaitable[None]] | None = None,
) -> str | None:
    """Show the session on the screen until the user leaves; gives what the app returned.

    `themes` is the folder of the user's themes, `models` the choice among models and `history` the saved
    sessions, None where there are none; `opening` is the session to begin with.
    """
    from keen_tui.ui.app import UiSettings, run_workspace  # noqa: PLC0415 - the core needs no screen

    look = UiSettings(
        theme=settings.theme,
        reduced_motion=settings.reduced_motion,
        glyphs=settings.glyphs,
        mouse=settings.mouse,
        user_themes=themes,
        keeps_pending=settings.pending_durable and history is not None,
    )
    return asyncio.run(
        run_workspace(
            session, settings=look, models=models, history=history, opening=opening, companion=companion
        )
    )
