"""Files as messages name them."""

from __future__ import annotations

from pathlib import Path

from keen_tui.system.paths import home_relative


def mention(path: Path, workspace: Path) -> str:
    """The path behind an @, as short as it can be said from the workspace."""
    inside = path.is_relative_to(workspace)
    name = str(path.relative_to(workspace)) if inside else home_relative(path)
    return f'@"{name}"' if any(character.isspace() for character in name) else f"@{name}"
