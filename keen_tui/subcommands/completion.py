"""`keen-tui completion`: the completion of a shell, and the values that it asks for while somebody types."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, TextIO

from keen_tui.domain.errors import ConfigError
from keen_tui.frontends.tui.look.usual_theme import shipped_folder
from keen_tui.providers.catalog.catalog import Catalog, load_catalog
from keen_tui.settings.subcommands import SHELLS, SUBJECTS
from keen_tui.system.paths import data_folder, home_folder
from keen_tui.system.work_tree_records import project_folder, recorded

SCRIPTS: Final = Path(__file__).with_name("completions")
"""The folder of the scripts, one for each shell, which `make completions` writes."""

_SAFE: Final = re.compile(r"[\w@/][\w@/.:+-]*")
"""What a value may be. bash expands the words that it is given, so they may hold nothing that it acts on."""


def run(word: str, environ: Mapping[str, str], folder: Path, out: TextIO) -> int:
    """Print the completion for the shell of that name, or a kind of values, one a line. Values that can't be
    had are left out without a word: they are asked for in the middle of a line that somebody types.

    Raises:
        ConfigError: it is neither.
    """
    if word in SHELLS:
        out.write((SCRIPTS / f"keen-tui.{word}").read_text("utf-8"))
        return 0
    if word not in VALUES:
        raise ConfigError(f"completion takes {SUBJECTS['completion']}.")
    with suppress(Exception):
        for value in dict.fromkeys(VALUES[word](environ, folder)):
            if _SAFE.fullmatch(value):
                print(value, file=out)
    return 0


def _sessions(environ: Mapping[str, str], folder: Path) -> Iterator[str]:
    from keen_tui.storage.lookup.sessions import SessionStore  # noqa: PLC0415 - only where they are wanted

    return (session.id for session in SessionStore(data_folder(environ)).list(folder))


def _work_trees(environ: Mapping[str, str], folder: Path) -> Iterator[str]:
    top = next((each for each in (folder, *folder.parents) if (each / ".git").exists()), folder)
    project = project_folder(top, environ)
    return (record.name for _, record in recorded(data_folder(environ), project))


def _catalog(environ: Mapping[str, str]) -> Catalog:
    return load_catalog(home_folder(environ) / "providers")


def _providers(environ: Mapping[str, str], _: Path) -> Iterator[str]:
    return iter(_catalog(environ).providers)


def _models(environ: Mapping[str, str], _: Path) -> Iterator[str]:
    return (model.id for provider in _catalog(environ).providers.values() for model in provider.models)


def _efforts(environ: Mapping[str, str], _: Path) -> Iterator[str]:
    models = (model for provider in _catalog(environ).providers.values() for model in provider.models)
    return (effort for model in models for effort in model.efforts)


def _themes(environ: Mapping[str, str], _: Path) -> Iterator[str]:
    for folder in (shipped_folder(), home_folder(environ) / "themes"):
        for file in sorted(folder.glob("*.toml")):
            table = tomllib.loads(file.read_text("utf-8"))
            name = str(table.get("name", file.stem))
            yield from (name, f"{name}-light") if "light" in table else (name,)


VALUES: Final[Mapping[str, Callable[[Mapping[str, str], Path], Iterable[str]]]] = {
    "sessions": _sessions,
    "worktrees": _work_trees,
    "providers": _providers,
    "models": _models,
    "efforts": _efforts,
    "themes": _themes,
}
"""What gives the values of a kind, for the environment and the current folder."""
