"""One TOML file of the catalogue: its allowed content, and the values that are built from it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, get_args

from keen_tui.domain.choices import Api
from keen_tui.domain.errors import ConfigError
from keen_tui.domain.models import ModelInfo, Price, ProviderInfo
from keen_tui.settings.config import problem_of

Table = Mapping[str, Any]
"""A checked table of the file, as TOML values."""

_Rule = Callable[[object], str]
"""Says what the value must be; "" if the value is right."""


def parse(text: str, file: str) -> dict[str, Any]:
    """The tables of a file. Raises ConfigError, which names `file`, the key and what to do."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file} isn't valid TOML: {error}.") from error
    _check(table, _PROVIDER, file, "")
    for model, fields in table.get("models", {}).items():
        _check(fields, _MODEL, file, f"models.{model}.")
        if "price" in fields:
            _check_price(fields["price"], file, f"models.{model}.price.")
    return table


def build_provider(table: Table, file: str) -> ProviderInfo:
    """The provider that a checked table describes. Raises ConfigError if something is missing."""
    for key in ("id", "api", "base_url"):
        if key not in table:
            raise ConfigError(f"{file}: {key} is missing. Add it: a new provider needs id, api and base_url.")
    return ProviderInfo(
        id=table["id"],
        name=table.get("name", table["id"]),
        api=table["api"],
        base_url=table["base_url"],
        key_variables=tuple(table.get("key_variables", ())),
        local=table.get("local", False),
        models=tuple(_model(id, fields, table) for id, fields in table.get("models", {}).items()),
    )


def overridden(table: Table, changes: Table) -> dict[str, Any]:
    """A provider's table, with single fields of the provider and of its models replaced or added."""
    models = dict(table.get("models", {}))
    for model, fields in changes.get("models", {}).items():
        models[model] = models.get(model, {}) | fields
    return {**table, **changes, "models": models}


def _model(id: str, fields: Table, provider: Table) -> ModelInfo:
    return ModelInfo(
        provider=provider["id"],
        id=id,
        api=fields.get("api", provider["api"]),
        name=fields.get("name", ""),
        context_window=fields.get("context_window"),
        output_limit=fields.get("output_limit"),
        price=_price(fields["price"]) if "price" in fields else None,
        reasons=fields.get("reasons"),
        efforts=tuple(fields.get("efforts", ())),
        takes_images=fields.get("images"),
    )


def _price(fields: Table) -> Price:
    long = fields.get("long")
    return Price(
        input=fields["input"],
        output=fields["output"],
        cached_input=fields.get("cached_input"),
        cache_write=fields.get("cache_write"),
        long_above=long["above"] if long else 0,
        long=_price(long) if long else None,
    )


def _check(table: object, rules: Mapping[str, _Rule], file: str, path: str) -> None:
    if not isinstance(table, Mapping):
        raise ConfigError(f"{file}: {path.rstrip('.')} must be a table.")
    for key, value in table.items():
        if key not in rules:
            known = ", ".join(rules)
            raise ConfigError(f"{file}: unknown key {path}{key}. Remove it; the known keys are {known}.")
        if must_be := rules[key](value):
            raise ConfigError(f"{file}: {path}{key} must be {must_be}. Correct or remove it.")


def _check_price(price: object, file: str, path: str, *, long: bool = False) -> None:
    _check(price, _LONG_PRICE if long else _PRICE, file, path)
    assert isinstance(price, Mapping)
    for key in ("input", "output", *(("above",) if long else ())):
        if key not in price:
            raise ConfigError(f"{file}: {path}{key} is missing. Add it, or remove the price.")
    if "long" in price:
        _check_price(price["long"], file, f"{path}long.", long=True)


def _text(value: object) -> str:
    return "" if isinstance(value, str) and value.strip() else "a quoted string"


def _url(value: object) -> str:
    fits = isinstance(value, str) and re.fullmatch(r"https?://[^\s/?#@]+(/[^\s?#]*)?", value)
    return "" if fits and problem_of("base_url", value) is None else "an http:// or https:// address"


def _flag(value: object) -> str:
    return "" if isinstance(value, bool) else "true or false"


def _count(value: object) -> str:
    whole = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return "" if whole else "a whole number above 0"


def _dollars(value: object) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")
    return "" if number else "dollars for a million tokens, 0 or more"


def _date(value: object) -> str:
    return "" if isinstance(value, date) else "a date such as 2026-01-31"


def _texts(value: object) -> str:
    is_list = isinstance(value, list) and not any(map(_text, value))
    return "" if is_list else 'a list of strings such as ["low"]'


def _variables(value: object) -> str:
    """Checks names of variables. The message never quotes them: somebody may have put the key itself
    there."""
    names = isinstance(value, list) and all(isinstance(each, str) and each.isidentifier() for each in value)
    return "" if names else 'a list of names of environment variables such as ["EXAMPLE_API_KEY"]'


def _api(value: object) -> str:
    return "" if value in get_args(Api) else f"one of {', '.join(get_args(Api))}"


def _table(value: object) -> str:
    return "" if isinstance(value, Mapping) else "a table"


_PROVIDER: Mapping[str, _Rule] = {
    "id": _text,
    "name": _text,
    "api": _api,
    "base_url": _url,
    "key_variables": _variables,
    "local": _flag,
    "source": _text,
    "retrieved": _date,
    "models": _table,
}
_MODEL: Mapping[str, _Rule] = {
    "name": _text,
    "api": _api,
    "context_window": _count,
    "output_limit": _count,
    "price": _table,
    "reasons": _flag,
    "efforts": _texts,
    "images": _flag,
}
_RATES: Mapping[str, _Rule] = {
    "input": _dollars,
    "output": _dollars,
    "cached_input": _dollars,
    "cache_write": _dollars,
}
_PRICE: Mapping[str, _Rule] = {**_RATES, "long": _table}
_LONG_PRICE: Mapping[str, _Rule] = {**_RATES, "above": _count}
