"""Settings: defaults < user file < project, once trusted < environment < flags."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from keen_tui.domain.errors import ConfigError
from keen_tui.settings.schema import ABOUT, CHOICES, DEFAULTS, HOST_FLAGS, Settings, name_in_file
from keen_tui.settings.toml_lines import place_of
from keen_tui.system.paths import settings_file, text_of

URL_VARIABLES: Mapping[str, str] = {"openai": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL"}
"""The environment variables that move a provider's base URL, by provider."""


def load_settings(
    flags: Mapping[str, Any],
    environ: Mapping[str, str],
    join: Callable[[Settings], Settings] = lambda settings: settings,
    where: str = "",
) -> Settings:
    """Put the settings together. `flags` holds only what was given in the place that `where` names, "" for
    the command line; `join` puts those of a project behind the user's.

    Raises:
        ConfigError: a key, a value or a file is wrong.
    """
    file = settings_file(environ)
    settings = settings_of_file(read_settings(file), file)
    given = {name: value for name, value in flags.items() if name not in HOST_FLAGS}
    settings = _updated(join(settings), given, lambda _: where)
    hosts = tuple(f"{kind}({host})" for flag, kind in HOST_FLAGS.items() for host in flags.get(flag, ()))
    settings = settings._replace(permissions_allow=(*settings.permissions_allow, *hosts))
    variable = URL_VARIABLES.get(settings.provider or _family(settings.api), "")
    url = environ.get(variable, "")
    if url and "base_url" not in flags:
        settings = _updated(settings, {"base_url": url}, lambda _: f"the environment variable {variable}")
    return settings


def settings_of_file(written: Mapping[str, Any], file: Path) -> Settings:
    """The settings that are written in the user's file. Raises ConfigError: one is wrong."""
    return _updated(DEFAULTS, flat(written, str(file)), partial(place_of, file))


def _family(api: str) -> str:
    return "anthropic" if api == "anthropic" else "openai"


def is_loopback(url: str) -> bool:
    """Whether the URL names this machine."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or host.endswith(".localhost") or ip_address(host).is_loopback
    except ValueError:
        return False


def read_settings(file: Path) -> dict[str, Any]:
    """Returns the content of a settings file, {} if there is none. Raises ConfigError: it can't be read."""
    try:
        return tomllib.loads(text_of(file))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"{file} can't be read: {error.strerror}.") from error
    except ValueError as error:
        raise ConfigError(f"{file} isn't valid TOML: {error}.") from error


def is_declined(name: str, environ: Mapping[str, str]) -> bool:
    """Whether the user's settings file says no to the setting of that name. If the file can't be read, so it
    is. Blocks."""
    file = settings_file(environ)
    try:
        return flat(read_settings(file), str(file)).get(name) is False
    except ConfigError:
        return True


_IN_TABLES: Final[Mapping[str, str]] = {about.name: name for name, about in ABOUT.items() if about.name}
"""Settings that stand in a table of the settings file, by their names there."""

_TABLES: Final = frozenset(name.partition(".")[0] for name in _IN_TABLES)


def flat(written: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The settings by name, those of tables too; what is unknown in a table keeps its name with a dot."""
    flat: dict[str, Any] = {}
    for name, value in written.items():
        if name not in _TABLES:
            flat[name] = value
        elif isinstance(value, dict):
            inside = {f"{name}.{inner}": each for inner, each in value.items()}
            flat |= {_IN_TABLES.get(each, each): given for each, given in inside.items()}
        else:
            raise ConfigError(f"{where}: {name} must be a table, [{name}], not {value!r}.")
    return flat


def _updated(settings: Settings, changes: Mapping[str, Any], place: Callable[[str], str]) -> Settings:
    """The settings with these changes. `place` says where a name is set, "" for the command line."""
    known = set(Settings._fields)
    for name, value in changes.items():
        written = name_in_file(name)
        where = place(written)
        if name == "api_key":
            raise ConfigError(
                f"{where}: API keys don't belong there. Put the key in an environment variable, or enter it "
                "in the program (/key), which saves it elsewhere."
            )
        if name not in known:
            names = ", ".join(sorted(name_in_file(each) for each in known))
            raise ConfigError(f"{where}: unknown setting {name!r}. Known are: {names}.")
        if problem := problem_of(name, value):
            named = f"{where}: {written}" if where else _as_flag(name)
            raise ConfigError(f"{named} {problem}, not {value!r}.")
    if servers := changes.get("mcp_servers"):
        from keen_tui.settings.added.mcp_entries import servers_of_settings  # noqa: PLC0415 - only where there are

        servers_of_settings(servers, place)
    lists = {name: tuple(value) for name, value in changes.items() if isinstance(value, list)}
    keys = {"keys": _keys(changes["keys"], place)} if "keys" in changes else {}
    return settings._replace(**{**changes, **lists, **keys})


def _as_flag(name: str) -> str:
    """The flag of this setting, or else its name in the file."""
    return next((flag.name for flag in ABOUT[name].flags), name_in_file(name))


def _keys(written: Mapping[str, Any], place: Callable[[str], str]) -> dict[str, tuple[str, ...]]:
    """The keys of actions, each a text or a list of them. Whether they are keys is for the screen to say."""
    keys: dict[str, tuple[str, ...]] = {}
    for name, value in written.items():
        given = value if isinstance(value, list) else [value]
        if not all(isinstance(key, str) for key in given):
            wanted = f"keys.{name} must be a key in quotes, or a list of them"
            raise ConfigError(f"{place(f'keys.{name}')}: {wanted}, not {value!r}.")
        keys[name] = tuple(given)
    return keys


def problem_of(name: str, value: object) -> str | None:
    """Returns the problem with the value of a setting, None if there is none."""
    default = getattr(DEFAULTS, name)
    if type(value) is type(default) and value == default:
        return None
    if name in CHOICES:
        choices = CHOICES[name]
        return None if value in choices else f"must be one of {', '.join(filter(None, choices))}"
    if name == "base_url":
        return _problem_of_url(value)
    if name == "instructions_fallbacks":
        return _problem_of_names(value)
    match default:
        case dict():
            return None if isinstance(value, dict) else f"must be a table, [{name}]"
        case bool():
            return None if isinstance(value, bool) else "must be true or false"
        case float():
            positive = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
            return None if positive else "must be a number of seconds above 0"
        case tuple():
            is_list = isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)
            return None if is_list else "must be a list of quoted strings"
        case int():
            whole = isinstance(value, int) and not isinstance(value, bool) and value > 0
            return None if whole else "must be a whole number above 0"
        case _:
            return None if isinstance(value, str) else "must be a quoted string"


def _problem_of_names(value: object) -> str | None:
    is_list = isinstance(value, list | tuple) and all(
        isinstance(each, str)
        and Path(each).name
        and not Path(each).is_absolute()
        and ".." not in Path(each).parts
        for each in value
    )
    return None if is_list else "must be a list of quoted file names, or of paths below a folder"


def _problem_of_url(value: object) -> str | None:
    try:
        parts = urlsplit(value) if isinstance(value, str) else None
    except ValueError:
        parts = None
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        return "must begin with http:// or https:// and name a host, such as http://localhost:8000/v1"
    return None if _has_possible_port(parts) else "must have a port from 1 to 65535, or none"


def _has_possible_port(parts: SplitResult) -> bool:
    try:
        return parts.port != 0
    except ValueError:
        return False
