"""The user's settings file, written: what is changed goes to its place, comments and all else stay."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Any, cast

from keen_tui.config import Settings, name_in_file, read_settings
from keen_tui.errors import ConfigError
from keen_tui.home import settings_file
from keen_tui.toml_lines import uncommented


def remember(changes: Mapping[str, Any], environ: Mapping[str, str]) -> Path:
    """Write settings by their names in `Settings` to the user's file; "" and None take one out.

    Gives the file. Raises ConfigError when it can't be read or written.
    """
    import tomlkit  # noqa: PLC0415 - only when something is written

    file = settings_file(environ).resolve()  # a link stays a link
    read_settings(file)  # a file that is wrong is told of, never written over
    text = file.read_text("utf-8") if file.exists() else ""
    for name, value in changes.items():
        text = uncommented(text, name_in_file(name)) if not _is_nothing(value) else text
    document = tomlkit.parse(text)
    for name, value in changes.items():
        table, _, key = name_in_file(name).rpartition(".")
        if table and table not in document:
            if _is_nothing(value):
                continue
            document[table] = tomlkit.table()
        place = cast(MutableMapping[str, Any], document[table] if table else document)
        if _is_nothing(value):
            place.pop(key, None)
        else:
            place[key] = value
    _write(file, tomlkit.dumps(document))
    return file


def write_defaults(environ: Mapping[str, str]) -> tuple[Path, bool]:
    """The user's file, and whether it was written just now: it then explains every setting and sets none.

    Raises:
        ConfigError: it can't be written.
    """
    from keen_tui.settings_table import default_text  # noqa: PLC0415 - only when it is written

    file = settings_file(environ)
    if file.exists():
        return file, False
    _write(file, default_text())
    return file, True


def default_of(name: str) -> Any:
    """What holds where a setting is not set."""
    return getattr(Settings(), name)


def _is_nothing(value: Any) -> bool:
    return value is None or value == ""


def _write(file: Path, text: str) -> None:
    """Write the whole file or nothing of it."""
    new = file.with_name(f"{file.name}.new")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(text, "utf-8")
        new.replace(file)
    except OSError as error:
        raise ConfigError(f"{file} can't be written: {error.strerror}.") from error
