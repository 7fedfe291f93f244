"""Where all settings and data live. Imported before anything else, so it imports little."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def home_folder(environ: Mapping[str, str]) -> Path:
    """KEEN_HOME, or the platform's configuration folder."""
    if named := environ.get("KEEN_HOME"):
        return Path(named).expanduser()
    import platformdirs  # noqa: PLC0415 - only where KEEN_HOME does not say it

    return Path(platformdirs.user_config_dir("keen-tui", appauthor=False))


def data_folder(environ: Mapping[str, str]) -> Path:
    """KEEN_HOME, or the platform's folder for data: sessions and what belongs to them."""
    if environ.get("KEEN_HOME"):
        return home_folder(environ)
    import platformdirs  # noqa: PLC0415 - only where KEEN_HOME does not say it

    return Path(platformdirs.user_data_dir("keen-tui", appauthor=False))


def brings_something(folder: Path) -> bool:
    """Whether a project in this folder may bring something of its own: that is to be looked into then."""
    return any(os.path.lexists(folder / ".keen" / name) for name in ("settings.toml", "commands"))


def settings_file(environ: Mapping[str, str]) -> Path:
    """The user's settings."""
    return home_folder(environ) / "settings.toml"
