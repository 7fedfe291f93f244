"""Settings: defaults < user file < environment < flags."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from keen_tui.errors import ConfigError
from keen_tui.events import Mode
from keen_tui.home import settings_file
from keen_tui.models import Api

Output = Literal["text", "json", "stream-json"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that can be set. A name here is a key in settings.toml.

    `stall_seconds` is how long a stream may stay silent, `retry_attempts` the attempts a step,
    `context_window` the tokens the model takes in all (not known unless set).
    """

    api: Api = "openai-chat"
    base_url: str = ""
    model: str = ""
    api_key_env: str = "OPENAI_API_KEY"
    mode: Mode = "ask"
    max_steps: int = 100
    retry_attempts: int = 4
    stall_seconds: float = 180.0
    context_window: int = 0
    theme: str = "keen-dark"
    glyphs: Literal["", "unicode", "ascii"] = ""
    reduced_motion: bool = False
    mouse: bool = True
    api_key: str = field(default="", repr=False)
    """Only ever from the environment, never from the file."""

    def missing(self) -> str | None:
        """What has to be set before a model can be asked, as a sentence, or None."""
        if not self.model:
            return 'No model is chosen. Name one with --model NAME (or model = "NAME" in the settings file).'
        if not self.api_key and not self.base_url:
            return f"No API key: set {self.api_key_env}, or name another server with --base-url URL."
        if not self.api_key and not is_loopback(self.base_url):
            return (
                f"No API key for {self.base_url}: set {self.api_key_env}, "
                "or name another variable with --api-key-env."
            )
        return None


def load_settings(flags: Mapping[str, Any], environ: Mapping[str, str]) -> Settings:
    """Put the settings together. `flags` holds only what was given on the command line.

    Raises:
        ConfigError: a key, a value or a file is wrong.
    """
    file = settings_file(environ)
    settings = _updated(Settings(), _read(file), str(file))
    if url := environ.get("OPENAI_BASE_URL"):
        settings = _updated(settings, {"base_url": url}, "the environment variable OPENAI_BASE_URL")
    settings = _updated(settings, flags, "the command line")
    key = environ.get(settings.api_key_env, "").strip()
    if "api_key_env" in flags and not key:
        raise ConfigError(
            f"The environment variable {settings.api_key_env}, named by --api-key-env, is not set."
        )
    if not key.isprintable() or not key.isascii():
        raise ConfigError(
            f"The key in {settings.api_key_env} holds characters that no key has: copy it again."
        )
    return replace(settings, api_key=key)


def is_loopback(url: str) -> bool:
    """Whether the URL names this machine."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or host.endswith(".localhost") or ip_address(host).is_loopback
    except ValueError:
        return False


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"{file} can't be read: {error.strerror}.") from error
    except ValueError as error:
        raise ConfigError(f"{file} is no valid TOML: {error}.") from error


def _updated(settings: Settings, changes: Mapping[str, Any], where: str) -> Settings:
    known = {each.name: each for each in fields(Settings) if each.name != "api_key"}
    for name, value in changes.items():
        if name == "api_key":
            raise ConfigError(
                f"{where}: keys don't belong there. Put the key in an environment variable "
                "and name that with api_key_env."
            )
        if name not in known:
            raise ConfigError(f"{where}: unknown setting {name!r}. Known are: {', '.join(sorted(known))}.")
        if problem := _problem(name, value):
            raise ConfigError(f"{where}: {name} {problem}, not {value!r}.")
    return replace(settings, **changes)


_CHOICES: Mapping[str, tuple[str, ...]] = {
    "api": get_args(Api),
    "mode": get_args(Mode),
    "glyphs": ("", "unicode", "ascii"),
}


def _problem(name: str, value: object) -> str | None:
    if name in _CHOICES:
        choices = _CHOICES[name]
        return None if value in choices else f"must be one of {', '.join(filter(None, choices))}"
    if name == "base_url":
        return None if _is_http_url(value) else "must be an http:// or https:// address"
    default = getattr(Settings(), name)
    match default:
        case bool():
            return None if isinstance(value, bool) else "must be true or false"
        case float():
            positive = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
            return None if positive else "must be a number of seconds above 0"
        case int():
            whole = isinstance(value, int) and not isinstance(value, bool) and value > 0
            return None if whole else "must be a whole number above 0"
        case _:
            return None if isinstance(value, str) else "must be a text in quotes"


def _is_http_url(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)
