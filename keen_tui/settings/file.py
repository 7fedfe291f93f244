"""The user's settings file, written: what is changed goes to its place, comments and all else stay."""

from __future__ import annotations

import stat
import tomllib
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Any, cast

from keen_tui.domain.errors import ConfigError
from keen_tui.settings.config import flat, read_settings, settings_of_file
from keen_tui.settings.schema import Settings, name_in_file
from keen_tui.settings.toml_lines import uncommented
from keen_tui.system.paths import settings_file, text_of


def remember(changes: Mapping[str, Any], environ: Mapping[str, str]) -> Path:
    """Write settings by their names in `Settings` to the user's file; "" and None take one out.

    Gives the file. Raises ConfigError when it can't be read or written, or would be wrong then.
    """
    file = settings_file(environ).resolve()  # a link stays a link
    read_settings(file)  # a file that is wrong is told of, never written over
    text = text_of(file) if file.exists() else ""
    for name, value in changes.items():
        text = text if _is_nothing(value) else _made_room(text, name)
    text = _changed(text, changes, file)
    settings_of_file(tomllib.loads(text), file)
    _write(file, text)
    return file


def _made_room(text: str, name: str) -> str:
    """The text with a setting taken out of its comment, where that sets this one and changes nothing else."""
    without_comment = uncommented(text, name_in_file(name))
    try:
        before, after = flat(tomllib.loads(text), ""), flat(tomllib.loads(without_comment), "")
    except (ConfigError, ValueError):
        return text
    return without_comment if after.pop(name, None) is not None and after == before else text


def _changed(text: str, changes: Mapping[str, Any], file: Path) -> str:
    """The text with these settings. Raises ConfigError: it can't be understood."""
    import tomlkit  # noqa: PLC0415 - only when something is written
    from tomlkit.exceptions import TOMLKitError  # noqa: PLC0415

    try:
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
        return tomlkit.dumps(document)
    except (TOMLKitError, TypeError) as error:
        raise ConfigError(f"{file} can't be changed: {error}.") from error


def put_server(name: str, entry: Mapping[str, Any], environ: Mapping[str, str]) -> Path:
    """Write an MCP server to the user's file; gives the file. Raises ConfigError: there is one of that name,
    the entry is wrong, or the file can't be read or written."""
    file = settings_file(environ).resolve()
    if name in servers_in(read_settings(file), file):
        raise ConfigError(
            f"{file} has an MCP server {name} already. Remove it first: keen-tui mcp remove {name}"
        )
    text = _with_server(text_of(file) if file.exists() else "", name, entry, file)
    settings_of_file(tomllib.loads(text), file)
    _write(file, text)
    return file


def remove_server(name: str, environ: Mapping[str, str]) -> Path:
    """Take an MCP server out of the user's file; gives the file. Raises ConfigError: there is none of that
    name, or the file can't be read or written."""
    file = settings_file(environ).resolve()
    written = read_settings(file)
    servers = servers_in(written, file)
    if name not in servers:
        raise ConfigError(f"{file} has no MCP server {name}.")
    text = _with_server(text_of(file), name, None, file)
    left = {each: entry for each, entry in servers.items() if each != name}
    if {**tomllib.loads(text), "mcp_servers": left} != {**written, "mcp_servers": left}:
        raise ConfigError(f"{file} can't be changed. Remove [mcp_servers.{name}] in it with your editor.")
    _write(file, text)
    return file


def servers_in(written: Mapping[str, Any], file: Path) -> Mapping[str, Any]:
    """The tables of MCP servers in what the user's file says. Raises ConfigError: they are no tables."""
    servers = written.get("mcp_servers", {})
    if not isinstance(servers, dict):
        raise ConfigError(f"{file}: mcp_servers must be a table, [mcp_servers.NAME].")
    return servers


def _with_server(text: str, name: str, entry: Mapping[str, Any] | None, file: Path) -> str:
    """The text with this MCP server, or without it. Raises ConfigError: it can't be understood."""
    import tomlkit  # noqa: PLC0415 - only when something is written
    from tomlkit.exceptions import TOMLKitError  # noqa: PLC0415

    try:
        document = tomlkit.parse(text)
        if entry is None:
            cast(MutableMapping[str, Any], document["mcp_servers"]).pop(name)
            return tomlkit.dumps(document)
        if "mcp_servers" not in document:
            document["mcp_servers"] = tomlkit.table(is_super_table=True)
        table = tomlkit.table()
        for field, value in entry.items():
            inline = tomlkit.inline_table()
            inline.update(value if isinstance(value, Mapping) else {})
            table[field] = inline if isinstance(value, Mapping) else value
        cast(MutableMapping[str, Any], document["mcp_servers"])[name] = table
        return tomlkit.dumps(document)
    except (TOMLKitError, TypeError, KeyError) as error:
        raise ConfigError(f"{file} can't be changed: {error}.") from error


def write_defaults(environ: Mapping[str, str]) -> tuple[Path, bool]:
    """The user's file, and whether it was written just now: it then explains every setting and sets none.

    Raises:
        ConfigError: it can't be written.
    """
    from keen_tui.settings.default_file import default_text  # noqa: PLC0415 - only when it is written

    file = settings_file(environ)
    if file.exists():
        return file, False
    _write(file, default_text())
    return file, True


def default_of(name: str) -> Any:
    """Returns the value of a setting that isn't set."""
    return getattr(Settings(), name)


def _is_nothing(value: Any) -> bool:
    return value is None or value == ""


def _write(file: Path, text: str) -> None:
    """Write the whole file or nothing of it. Who may read it stays as it is."""
    new = file.with_name(f"{file.name}.new")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(file.stat().st_mode) if file.exists() else None
        new.unlink(missing_ok=True)
        new.touch(0o666 if mode is None else mode | stat.S_IWUSR)
        new.write_text(text, "utf-8")
        if mode is not None:
            new.chmod(mode)
        new.replace(file)
    except OSError as error:
        raise ConfigError(f"{file} can't be written: {error.strerror}.") from error
