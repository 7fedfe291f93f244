"""Files as messages name them."""

from __future__ import annotations

from pathlib import Path


def mention(path: Path, workspace: Path) -> str:
    """The path behind an @, as short as it can be said from the workspace."""
    name = str(path)
    if path.is_relative_to(workspace):
        name = str(path.relative_to(workspace))
    elif path.is_relative_to(Path.home()):
        name = f"~/{path.relative_to(Path.home())}"
    return f'@"{name}"' if any(character.isspace() for character in name) else f"@{name}"
