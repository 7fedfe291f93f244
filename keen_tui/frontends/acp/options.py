"""The options of a session in an editor: permission mode, model, reasoning effort, memory policy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, cast, get_args

from acp.schema import (
    SessionConfigOptionSelect,
    SessionConfigSelectGroup,
    SessionConfigSelectOption,
    SessionMode,
    SessionModeState,
)

from keen_tui.domain.choices import Mode, PolicyName
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.models import ModelInfo, ProviderInfo
from keen_tui.domain.reports import POLICIES
from keen_tui.frontends.shared.commands.command import REPLAY_REFUSAL, kept
from keen_tui.frontends.shared.port import FrontEndSetup, ModelsPort
from keen_tui.text.labels import CARRIED, MODES

_MODE: Final = "mode"
_MODEL: Final = "model"
_EFFORT: Final = "thought_level"
_MEMORY: Final = "memory"
_DEFAULT: Final = "default"
"""Stands for the model's own default effort."""


def modes_of(setup: FrontEndSetup) -> SessionModeState:
    """The permission modes, and the one in use."""
    modes = [
        SessionMode(id=mode, name=mode, description=f"{MODES[mode][:1].upper()}{MODES[mode][1:]}.")
        for mode in get_args(Mode)
    ]
    return SessionModeState(current_mode_id=setup.session.mode, available_modes=modes)


def options_of(setup: FrontEndSetup) -> list[SessionConfigOptionSelect]:
    """All options with their values."""
    return list(_options(setup))


def choose_mode(setup: FrontEndSetup, mode: str) -> None:
    """Change the permission mode. Raises SessionRefused if there is no mode of that name."""
    if mode not in get_args(Mode):
        raise SessionRefused(f"There is no mode {mode!r}. The modes are {', '.join(get_args(Mode))}.")
    kept(setup.controls, REPLAY_REFUSAL).set_mode(cast(Mode, mode))


def choose_option(setup: FrontEndSetup, option: str, value: str) -> None:
    """Change an option. Raises KeenError with a sentence."""
    match option:
        case "mode":
            choose_mode(setup, value)
        case "model":
            _choose_model(kept(setup.models, "Models can't be chosen here."), value)
        case "thought_level":
            _choose_effort(kept(setup.models, "Models can't be chosen here."), value)
        case "memory" if value in get_args(PolicyName):
            kept(setup.controls, REPLAY_REFUSAL).set_policy(cast(PolicyName, value))
        case "memory":
            raise SessionRefused(f"There is no memory policy {value!r}. There are {', '.join(POLICIES)}.")
        case _:
            raise SessionRefused(f"There is no option {option!r}.")


def _options(setup: FrontEndSetup) -> Iterator[SessionConfigOptionSelect]:
    modes = [
        SessionConfigSelectOption(value=mode, name=mode, description=MODES[mode]) for mode in get_args(Mode)
    ]
    yield SessionConfigOptionSelect(
        type="select",
        id=_MODE,
        name="Permission mode",
        description="What runs without asking.",
        category="mode",
        current_value=setup.session.mode,
        options=modes,
    )
    if setup.models and setup.models.current:
        yield from _of_model(setup.models, setup.models.current)
    policies = [
        SessionConfigSelectOption(value=name, name=name, description=CARRIED[name]) for name in POLICIES
    ]
    yield SessionConfigOptionSelect(
        type="select",
        id=_MEMORY,
        name="Memory policy",
        description="What later turns remember of a finished turn.",
        current_value=setup.session.policy,
        options=policies,
    )


def _of_model(models: ModelsPort, current: ModelInfo) -> Iterator[SessionConfigOptionSelect]:
    yield SessionConfigOptionSelect(
        type="select",
        id=_MODEL,
        name="Model",
        category="model",
        current_value=_value(current),
        options=list(_groups(models, current)),
    )
    if current.efforts:
        names = (_DEFAULT, *current.efforts)
        yield SessionConfigOptionSelect(
            type="select",
            id=_EFFORT,
            name="Reasoning effort",
            category="thought_level",
            current_value=models.effort or _DEFAULT,
            options=[SessionConfigSelectOption(value=name, name=name) for name in names],
        )


def _groups(models: ModelsPort, current: ModelInfo) -> Iterator[SessionConfigSelectGroup]:
    """The models with a known key, by provider, and the one in use."""
    is_listed = False
    for provider in models.providers:
        offered = _offered(models, provider)
        is_listed = is_listed or current.id in {model.id for model in offered}
        if offered:
            yield _group(provider.id, provider.name, offered)
    if not is_listed:
        yield _group(current.provider, current.provider, (current,))


def _offered(models: ModelsPort, provider: ProviderInfo) -> tuple[ModelInfo, ...]:
    return provider.models if provider.models and models.key_source(provider) is not None else ()


def _group(id: str, name: str, models: tuple[ModelInfo, ...]) -> SessionConfigSelectGroup:
    options = [SessionConfigSelectOption(value=_value(model), name=model.title) for model in models]
    return SessionConfigSelectGroup(group=id, name=name, options=options)


def _value(model: ModelInfo) -> str:
    return f"{model.provider}/{model.id}"


def _choose_model(models: ModelsPort, value: str) -> None:
    every = (model for provider in models.providers for model in provider.models)
    known = {_value(model): model for model in every}
    if models.current:
        known.setdefault(_value(models.current), models.current)
    model = known.get(value)
    if model is None:
        raise SessionRefused(f"There is no model {value!r} here.")
    if models.current != model:
        _use(models, model, "")


def _choose_effort(models: ModelsPort, value: str) -> None:
    current = models.current
    if current is None or value not in (_DEFAULT, *current.efforts):
        raise SessionRefused(f"This model doesn't support effort {value!r}.")
    _use(models, current, "" if value == _DEFAULT else value)


def _use(models: ModelsPort, model: ModelInfo, effort: str) -> None:
    if models.would_abandon(model):
        raise SessionRefused(
            f"{model.title} can't continue the incomplete turn: write /retry or /discard first."
        )
    models.choose(model, effort=effort)
