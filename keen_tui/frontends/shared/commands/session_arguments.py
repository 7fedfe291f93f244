"""The arguments of the commands about sessions."""

from __future__ import annotations

from pathlib import PurePath

from keen_tui.domain.choices import ExportFormat
from keen_tui.frontends.shared.commands.command import WordsRefused

_FORMATS: dict[str, ExportFormat] = {
    "markdown": "markdown",
    "md": "markdown",
    "json": "json",
    "html": "html",
    "htm": "html",
}


def export_words(words: str) -> tuple[ExportFormat, str]:
    """The format and the file ("" if none is named) after `/export`.

    A format in front wins over the file's suffix; a file with an unknown suffix gets Markdown.

    Raises:
        WordsRefused: one bare word that is no format: nobody calls a file "pdf".
    """
    first, _, rest = words.strip().partition(" ")
    if named := _FORMATS.get(first.lower()):
        return named, rest.strip()
    file = PurePath(words.strip())
    if words.strip() and not rest and file.name == str(file) and not file.suffix:
        raise WordsRefused(f"Unknown format {first}. Use markdown, json or html.")
    return _FORMATS.get(file.suffix[1:].lower(), "markdown"), words.strip()


def fork_words(words: str, turns: tuple[int, ...]) -> int:
    """The turn after `/fork`, 0 for none. `turns` are the existing ones.

    Raises:
        WordsRefused: there is nothing to fork, or no such turn.
    """
    if not turns:
        raise WordsRefused("Nothing to fork yet: this session has no turns.")
    if not words:
        return 0
    if words.isdecimal() and int(words) in turns:
        return int(words)
    known = f"turn {turns[0]}" if len(turns) == 1 else f"the turns {turns[0]} to {turns[-1]}"
    raise WordsRefused(f"There is no turn {words}. This session has {known}.")
