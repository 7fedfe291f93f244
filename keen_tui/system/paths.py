"""Where all settings and data live. Imported before anything else, so it imports little."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from keen_tui.domain.errors import ConfigError

QUARANTINE: Final = "quarantine"
"""Where in the data folder files lie that commands made and that were set aside."""


def home_folder(environ: Mapping[str, str]) -> Path:
    """KEEN_HOME, or the platform's configuration folder. Raises ConfigError: KEEN_HOME begins with the home
    folder of nobody."""
    if named := environ.get("KEEN_HOME"):
        try:
            return Path(named).expanduser()
        except RuntimeError as error:
            raise ConfigError(f"KEEN_HOME is {named}, but there is no such user.") from error
    import platformdirs  # noqa: PLC0415 - only where KEEN_HOME does not say it

    return Path(platformdirs.user_config_dir("keen-tui", appauthor=False))


def data_folder(environ: Mapping[str, str]) -> Path:
    """KEEN_HOME, or the platform's folder for data: sessions and what belongs to them."""
    if environ.get("KEEN_HOME"):
        return home_folder(environ)
    import platformdirs  # noqa: PLC0415 - only where KEEN_HOME does not say it

    return Path(platformdirs.user_data_dir("keen-tui", appauthor=False))


SKILL_PLACES: Final = (".keen/skills", ".agents/skills", ".claude/skills")
"""Where a project may have skills; of two with the same name the first one counts."""

AGENT_PLACES: Final = (".keen/agents", ".agents/agents", ".claude/agents")
"""Where a project may define sub-agents; of two with the same name the first one counts."""

COMMAND_PLACES: Final = (".keen/commands", ".agents/commands", ".claude/commands")
"""Where a project may have slash commands; of two with the same name the first one counts."""

_BROUGHT: Final = (
    ".keen/settings.toml",
    ".mcp.json",
    ".keen/hooks.json",
    ".claude/settings.json",
    *SKILL_PLACES,
    *AGENT_PLACES,
    *COMMAND_PLACES,
)
"""Files and folders of a project that `settings/project.py` reads."""


def own_skill_places(environ: Mapping[str, str]) -> tuple[Path, Path, Path]:
    """Where the user's own skills are: the settings folder, and what other agents use, too."""
    return _own_places(environ, "skills")


def own_agent_places(environ: Mapping[str, str]) -> tuple[Path, Path, Path]:
    """Where the user's own sub-agents are: the settings folder, and what other agents use, too."""
    return _own_places(environ, "agents")


def own_command_places(environ: Mapping[str, str]) -> tuple[Path, Path, Path]:
    """Where the user's own slash commands are: the settings folder, and what other agents use, too."""
    return _own_places(environ, "commands")


def _own_places(environ: Mapping[str, str], name: str) -> tuple[Path, Path, Path]:
    home = Path(environ.get("HOME") or Path.home())
    return home_folder(environ) / name, home / ".agents" / name, home / ".claude" / name


def brings_something(folder: Path) -> bool:
    """Whether the project in this folder may bring something, so that it has to be read."""
    return any(os.path.lexists(folder / name) for name in _BROUGHT)


def home_relative(path: Path) -> str:
    """The path as people write it, with `~` for the home folder of the user."""
    try:
        return str("~" / path.relative_to(Path.home()))
    except (ValueError, RuntimeError):  # elsewhere, or nobody has a home
        return str(path)


def text_of(file: Path) -> str:
    """The text of a settings file. A pipe is refused instead of waited for.

    Raises:
        OSError: it can't be read. UnicodeDecodeError: it isn't UTF-8.
    """
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, encoding="utf-8") as opened:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it isn't a regular file", str(file))
        return opened.read()


def settings_file(environ: Mapping[str, str]) -> Path:
    """The user's settings."""
    return home_folder(environ) / "settings.toml"
