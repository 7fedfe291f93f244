"""From the command line to the screen: the app starts at once, its content is loaded behind its first
paint."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keen_tui.domain.errors import ConfigError, KeyProblem
from keen_tui.frontends.tui.app import UiSettings
from keen_tui.frontends.tui.look.usual_theme import theme_for
from keen_tui.frontends.tui.run import run_app
from keen_tui.settings.flags import command_of
from keen_tui.settings.load import load_all
from keen_tui.settings.schema import Settings
from keen_tui.settings.toml_lines import place_of
from keen_tui.system.log import begin_log
from keen_tui.system.paths import data_folder, home_folder, settings_file
from keen_tui.system.served import is_served
from keen_tui.tools.permissions.rule_check import check_rules

if TYPE_CHECKING:
    from keen_tui.frontends.shared.port import FrontEndSetup


def run_on_screen(given: Mapping[str, Any]) -> bool:
    """Show the screen for the given flags (`flags.parsed`) until the user leaves. Returns whether they left
    the tour for a session with a model of their own.

    Raises:
        KeenError: what can't be done, as a sentence for the user.
    """
    begin_log(os.environ)
    is_work = "demo" not in given and command_of(given) != "replay"
    settings, problem = load_all(given, os.environ, Path.cwd() if is_work else None, check_rules)
    left = _show(settings, lambda leaving: _setup(settings, given, problem, leaving))
    if left == "demo":
        left = _show(settings, lambda leaving: _tour(settings, 1.0, leaving))
    return left == "models"


def _show(settings: Settings, make: Callable[[ExitStack], FrontEndSetup]) -> str | None:
    look = UiSettings(
        theme=theme_for(settings.theme, os.environ),
        reduced_motion=settings.reduced_motion,
        glyphs=settings.glyphs,
        mouse=settings.mouse,
        keys=settings.keys,
        notify=settings.notify,
        notify_after=settings.notify_after,
        user_themes=home_folder(os.environ) / "themes",
        sidebar_file=data_folder(os.environ) / "screen.json",
        tips_file=data_folder(os.environ) / "tips.json" if settings.tips else None,
        in_browser=is_served(os.environ),
    )
    with ExitStack() as leaving, _wrong_key_placed(settings_file(os.environ)):
        return asyncio.run(run_app(lambda: make(leaving), look))


@contextmanager
def _wrong_key_placed(file: Path) -> Iterator[None]:
    """Name the line of the settings in the message about a key that can't be used."""
    try:
        yield
    except KeyProblem as problem:
        raise ConfigError(f"{place_of(file, f'keys.{problem.action_id}')}: {problem}") from problem


def _setup(settings: Settings, given: Mapping[str, Any], problem: str, leaving: ExitStack) -> FrontEndSetup:
    if "demo" in given:
        return _tour(settings, given.get("pace", 1.0), leaving)
    from msgspec.structs import replace

    from keen_tui import frontend_setup

    if command_of(given) == "replay":
        return frontend_setup.replay(given["words"][1], given.get("speed", 1.0), os.environ)
    return replace(
        frontend_setup.live(settings, given, os.environ, problem), picks_model="picks_model" in given
    )


def _tour(settings: Settings, pace: float, leaving: ExitStack) -> FrontEndSetup:
    from keen_tui.demo.screen import tour_workplace

    return tour_workplace(settings, pace, leaving)
