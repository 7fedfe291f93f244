"""Writes keen_tui/providers/catalog/data/*.toml, the models that Keen knows when it is installed.

    pip install genai-prices && pip download --no-deps litellm
    python scripts/catalog.py litellm-*.whl

Which models are listed is kept by hand in selection.toml beside this file; every number is read from the
two packages. What they don't say, or don't agree on, is left out.
"""

from __future__ import annotations

import argparse
import json
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TARGET = HERE.parent / "keen_tui" / "providers" / "catalog" / "data"
LITELLM_DATA = "litellm/model_prices_and_context_window_backup.json"

EFFORT_FLAGS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
ALWAYS_TAKEN = ("low", "medium", "high")
"""litellm's reading of its flags: a model with any effort flag takes these unless one says no."""

SETTLED = timedelta(days=60)
"""A price that changed later than this before the retrieval is taken for one that goes up and down."""

PRICE_FIELDS = {
    "input": ("input_mtok", "input_cost_per_token"),
    "output": ("output_mtok", "output_cost_per_token"),
    "cached_input": ("cache_read_mtok", "cache_read_input_token_cost"),
    "cache_write": ("cache_write_mtok", "cache_creation_input_token_cost"),
}


Table = dict[str, Any]


class NoPrice(Exception):
    """Why no price can be told."""


@dataclass(frozen=True)
class Sources:
    """The two packages' data; `models` is litellm's."""

    genai: Mapping[str, Any]
    models: Mapping[str, Mapping[str, Any]]
    retrieved: date

    def provider(self, name: str) -> Any:
        return self.genai[name]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("litellm", type=Path, help="the wheel of litellm")
    parser.add_argument("--retrieved", type=date.fromisoformat, default=datetime.now(UTC).date())
    options = parser.parse_args()
    with zipfile.ZipFile(options.litellm) as wheel:
        models = json.loads(wheel.read(LITELLM_DATA))
    genai = {each.id: each for each in import_module("genai_prices.data").providers}
    sources = Sources(genai, models, options.retrieved)
    source = f"genai-prices {version('genai-prices')}, litellm {options.litellm.name.split('-')[1]}"
    selection = tomllib.loads((HERE / "selection.toml").read_text("utf-8"))
    for provider, chosen in selection.items():
        text = "\n".join(provider_lines(provider, chosen, sources, source)) + "\n"
        (TARGET / f"{provider}.toml").write_text(text, "utf-8")


def provider_lines(provider: str, chosen: Mapping[str, Any], sources: Sources, source: str) -> Iterator[str]:
    """The file of one provider."""
    yield "# Written by scripts/catalog.py from the packages named under `source`."
    yield from (f"# {line}" for line in chosen.get("notes", ()))
    yield f"id = {toml(provider)}"
    for key in ("name", "api", "base_url", "key_variables", "local"):
        if key in chosen:
            yield f"{key} = {toml(chosen[key])}"
    if "models" not in chosen:
        return
    yield f"source = {toml(chosen.get('source', source))}"
    yield f"retrieved = {sources.retrieved}"
    for model in chosen["models"]:
        yield ""
        yield f"[models.{toml(model)}]"
        yield from model_lines(model, chosen, sources)


def model_lines(model: str, chosen: Mapping[str, Any], sources: Sources) -> Iterator[str]:
    """What is known of one model."""
    known = genai_entry(model, chosen, sources)
    entry = litellm_entry(model, chosen, sources)
    if entry and entry.get("supports_function_calling") is not True:  # models too new for litellm are let in
        raise SystemExit(f"{model}: nothing says that it can call tools")
    if known is not None and known.name:
        yield f"name = {toml(known.name)}"
    window = (known.context_window if known is not None else None) or entry.get("max_input_tokens")
    if window:
        yield f"context_window = {grouped(window)}"
    limit = entry.get("max_output_tokens")
    if limit and window and limit < window:  # as much as the window: no limit of its own
        yield f"output_limit = {grouped(limit)}"
    try:
        yield f"price = {toml(price(known, entry, chosen, sources))}"
    except NoPrice as reason:
        yield f"# no price: {reason}"
    reasons = entry.get("supports_reasoning")
    if reasons:
        yield "reasons = true"
        levels = chosen.get("efforts_of", {}).get(model, chosen.get("efforts")) or efforts(entry)
        if levels:
            yield f"efforts = {toml(levels)}"
    if (images := entry.get("supports_vision")) is not None:
        yield f"images = {toml(images)}"


def genai_entry(model: str, chosen: Mapping[str, Any], sources: Sources) -> Any:
    """The entry of genai-prices that has exactly this id."""
    return next((each for each in sources.provider(chosen["genai"]).models if each.id == model), None)


def litellm_entry(model: str, chosen: Mapping[str, Any], sources: Sources) -> Mapping[str, Any]:
    """The entry of litellm. A router's models are looked up at those who make them, without prices."""
    if "litellm" in chosen:
        return sources.models.get(f"{chosen['litellm']}{model}", {})
    maker, _, name = model.partition("/")
    name = name.replace(".", "-") if maker == "anthropic" else name
    found = [
        entry
        for key, entry in sources.models.items()
        if key.rpartition("/")[2].lower() == name and entry.get("supports_function_calling") is True
    ]
    flags = ("supports_reasoning", "supports_vision")
    said = {flag: {entry.get(flag) for entry in found} - {None} for flag in flags}  # many don't say
    agreed = {flag: answers == {True} for flag, answers in said.items() if len(answers) == 1}
    return {"supports_function_calling": bool(found), **agreed}


def price(known: Any, entry: Mapping[str, Any], chosen: Mapping[str, Any], sources: Sources) -> Table:
    """Dollars for a million tokens, with the price of long inputs under `long`. Raises NoPrice."""
    if known is None:
        raise NoPrice("no source names one")
    refuse_moving(known.prices, sources.retrieved, through_router="litellm" not in chosen)
    rates = known.get_prices(datetime.combine(sources.retrieved, time(12), UTC))
    told = {name: dollars(base(rate)) for name, rate in rates_of(rates).items()}
    if not {"input", "output"} <= told.keys():
        raise NoPrice("no source names one")
    for name, (_, theirs) in PRICE_FIELDS.items():
        other = entry.get(theirs)
        if name in told and other is not None and dollars(other * 1e6) != told[name]:
            raise NoPrice("the sources do not agree")
    return told | long_price(rates)


def refuse_moving(prices: Any, retrieved: date, *, through_router: bool) -> None:
    """Raises NoPrice for a price that changes with the hour, or that a router changes all the time."""
    for condition in prices if isinstance(prices, list) else ():
        if hasattr(condition.constraint, "start_time"):
            raise NoPrice("it depends on the time of day")
        start = getattr(condition.constraint, "start_date", None)
        if through_router and start and retrieved - start < SETTLED:
            raise NoPrice("it goes up and down with the servers behind the router")


def long_price(rates: Any) -> Table:
    """The price of all tokens of a call whose input is long, where there is one. Raises NoPrice."""
    tiers = {name: getattr(rate, "tiers", []) for name, rate in rates_of(rates).items()}
    starts = {tier.start for each in tiers.values() for tier in each}
    if not starts:
        return {}
    if len(starts) > 1:
        raise NoPrice("it has more than two tiers")
    long = {name: each[0].price if each else base(rates_of(rates)[name]) for name, each in tiers.items()}
    return {"long": {"above": starts.pop()} | {name: dollars(rate) for name, rate in long.items()}}


def rates_of(rates: Any) -> Table:
    """The rates that are told, by our names."""
    named = {ours: getattr(rates, theirs) for ours, (theirs, _) in PRICE_FIELDS.items()}
    return {name: rate for name, rate in named.items() if rate is not None}


def base(rate: Any) -> Any:
    """The rate of short inputs."""
    return getattr(rate, "base", rate)


def dollars(rate: Any) -> float:
    return round(float(rate), 6)


def efforts(entry: Mapping[str, Any]) -> list[str]:
    """The reasoning efforts a model takes, [] where nothing is said of them."""
    if "reasoning_effort_levels" in entry:
        return [level for level in EFFORT_FLAGS if level in entry["reasoning_effort_levels"]]
    flags = {level: entry.get(f"supports_{level}_reasoning_effort") for level in EFFORT_FLAGS}
    if not any(each is not None for each in flags.values()) and not entry.get("supports_output_config"):
        return []
    return [level for level, flag in flags.items() if flag or (level in ALWAYS_TAKEN and flag is None)]


def toml(value: Any) -> str:
    """A value in TOML, on one line."""
    match value:
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer():
            return str(int(value))
        case int():
            return grouped(value)
        case str():
            return json.dumps(value, ensure_ascii=False)
        case list():
            return f"[{', '.join(map(toml, value))}]"
        case dict():
            return "{ " + ", ".join(f"{key} = {toml(each)}" for key, each in value.items()) + " }"
        case _:
            return f"{value:f}".rstrip("0")


def grouped(number: int) -> str:
    return f"{number:_}"


if __name__ == "__main__":
    main()
