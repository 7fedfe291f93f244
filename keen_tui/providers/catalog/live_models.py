"""Reads a server's list of models. Pure: no network.

Servers describe models in more or less detail, in fields of their own; the catalogue fills the gaps.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from keen_tui.domain.models import ModelInfo, Price, ProviderInfo
from keen_tui.providers.catalog.catalog import Catalog
from keen_tui.providers.wire.json_fields import count_of, object_of, objects_of, text_of
from keen_tui.text.sanitize import clean

MODELS_LIMIT = 3_000
"""The most models that are read from one list."""

_ID_LIMIT = 200
_WINDOW_FIELDS = (
    "loaded_context_length",  # LM Studio
    "max_model_len",  # vLLM
    "context_length",  # OpenRouter, xAI, Moonshot
    "context_window",  # Groq
    "max_input_tokens",  # Anthropic
)
_NO_CHAT = re.compile(
    r"embed|rerank|whisper|transcribe|tts|speech|audio|realtime|voice|dall-e|image|imagen|veo-|sora|lyria"
    r"|moderation|davinci|babbage|ocr",
    re.IGNORECASE,
)
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


def listed_items(body: object) -> list[Mapping[str, Any]] | None:
    """The models in an answer, as the server describes them; None if the answer isn't a list of models."""
    if isinstance(body, Mapping):
        if "data" not in body:
            return None
        body = body["data"] or []  # Ollama sends null if it has no models
    return objects_of(body) if isinstance(body, list) else None


def read_models(
    items: list[Mapping[str, Any]], provider: ProviderInfo, catalog: Catalog
) -> tuple[ModelInfo, ...]:
    """The models that can chat. Those in the catalogue come first, in its order."""
    found: dict[str, ModelInfo] = {}
    for item in items[:MODELS_LIMIT]:
        model_id = text_of(item.get("id")).removeprefix("models/")  # Gemini uses this prefix
        if model_id and _is_plain(model_id) and _chats(model_id, item):
            found.setdefault(model_id, _described(item, _known(model_id, provider, catalog)))
    ranks = {model.id: rank for rank, model in enumerate(provider.models)}
    return tuple(sorted(found.values(), key=lambda model: ranks.get(model.id, len(ranks))))


def _known(model_id: str, provider: ProviderInfo, catalog: Catalog) -> ModelInfo:
    if catalog.provider(provider.id) is None:
        return ModelInfo(provider=provider.id, id=model_id, api=provider.api)
    return catalog.model(provider.id, model_id)


def _described(item: Mapping[str, Any], known: ModelInfo) -> ModelInfo:
    """A known model, updated with what its server says now."""
    name = clean(text_of(item.get("display_name")) or text_of(item.get("name")))[:_ID_LIMIT]
    efforts = _efforts(item)
    return replace(
        known,
        name=known.name or ("" if name == known.id else name),
        context_window=_window(item) or known.context_window,
        output_limit=count_of(item, "max_tokens") or known.output_limit,
        price=known.price or _price(item),
        reasons=known.reasons or bool(efforts) or None,
        efforts=efforts or known.efforts,
    )


def _is_plain(model_id: str) -> bool:
    """Whether an id can be shown unchanged, since the shown id is the one that is sent."""
    return len(model_id) <= _ID_LIMIT and not re.search(r"\s", model_id) and clean(model_id) == model_id


def _chats(model_id: str, item: Mapping[str, Any]) -> bool:
    """Whether the model chats and calls tools, by what the server says, or else by its name."""
    if object_of(item.get("capabilities")).get("completion_chat") is False:  # Mistral
        return False
    if item.get("type") in ("embedding", "embeddings"):  # LM Studio
        return False
    takes = item.get("supported_parameters")  # OpenRouter
    if isinstance(takes, list):
        return "tools" in takes
    return not _NO_CHAT.search(model_id)


def _window(item: Mapping[str, Any]) -> int | None:
    """Tokens of the context window. A local server may have given a model less than it supports."""
    told = [count_of(item, field) for field in _WINDOW_FIELDS]
    told.append(count_of(item.get("meta"), "n_ctx"))  # llama.cpp
    if "state" not in item:
        told.append(count_of(item, "max_context_length"))  # Mistral; in LM Studio this means something else
    return next(filter(None, told), None)


def _efforts(item: Mapping[str, Any]) -> tuple[str, ...]:
    capabilities = object_of(item.get("capabilities"))
    levels = capabilities.get("reasoning_effort")  # xAI
    if isinstance(levels, list):
        return tuple(effort for effort in _EFFORTS if effort in levels)
    anthropic = object_of(capabilities.get("effort"))
    return tuple(e for e in _EFFORTS if object_of(anthropic.get(e)).get("supported") is True)


def _price(item: Mapping[str, Any]) -> Price | None:
    """OpenRouter's prices: dollars per token, as text. None if a part of the price applies to some calls
    only."""
    told = object_of(item.get("pricing"))
    if told.get("overrides"):
        return None
    paid, given = _per_million(told.get("prompt")), _per_million(told.get("completion"))
    if paid is None or given is None:
        return None
    return Price(
        input=paid,
        output=given,
        cached_input=_per_million(told.get("input_cache_read")),
        cache_write=_per_million(told.get("input_cache_write")),
    )


def _per_million(dollars: object) -> float | None:
    try:
        price = float(text_of(dollars)) * 1_000_000
    except ValueError:
        return None
    return round(price, 6) if math.isfinite(price) and price >= 0 else None
