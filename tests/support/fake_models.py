"""A given choice of models for tests of the screen, with a record of the calls."""

from __future__ import annotations

import asyncio

from keen_tui.domain.errors import ConfigError, KeenError, ModelMissing, SessionRefused
from keen_tui.domain.models import FoundServer, ModelInfo, Price, ProviderInfo


def model(provider: str, id: str, name: str = "", **known: object) -> ModelInfo:
    return ModelInfo(provider=provider, id=id, api="openai-chat", name=name, **known)  # type: ignore[arg-type]


ACME = ProviderInfo(
    id="acme",
    name="Acme",
    api="openai-chat",
    base_url="https://api.acme.example/v1",
    key_variables=("ACME_API_KEY",),
    models=(
        model(
            "acme",
            "roadrunner-2",
            "Roadrunner 2",
            context_window=1_000_000,
            price=Price(input=4, output=20),
            reasons=True,
            efforts=("low", "medium", "high"),
        ),
        model("acme", "roadrunner-2-mini", "Roadrunner 2 mini", context_window=200_000),
    ),
)
COYOTE = ProviderInfo(
    id="coyote",
    name="Coyote",
    api="anthropic",
    base_url="https://api.coyote.example",
    key_variables=("COYOTE_API_KEY",),
    models=(model("coyote", "trap-1", "Trap 1", price=Price(input=0.1, output=0.5)),),
)
LOCAL = ProviderInfo(
    id="ollama", name="Ollama", api="openai-chat", base_url="http://localhost:11434/v1", local=True
)
ABSENT = ProviderInfo(
    id="vllm", name="vLLM", api="openai-chat", base_url="http://localhost:8000/v1", local=True
)

GPU_BOX = ProviderInfo(
    id="http://gpu-box:8000/v1",
    name="gpu-box:8000",
    api="openai-chat",
    base_url="http://gpu-box:8000/v1",
    key_variables=("OPENAI_API_KEY",),
)
AT_GPU_BOX = FoundServer(
    provider=GPU_BOX, address="gpu-box:8000", models=(model(GPU_BOX.id, "big"), model(GPU_BOX.id, "small"))
)


class FakeModels:
    """`keys` are key sources by provider; `servers` are found; every call becomes a row in `calls`.

    Servers are found once `found` is set, a check is answered once `answered` is. `at_address` has the server
    at an address, or for a key. Requests to a server and choices raise `refusal`. `loses_work`: another model
    would lose an incomplete turn.
    """

    def __init__(self, current: ModelInfo | None = None, *, keys: dict[str, str] | None = None) -> None:
        self.current = current
        self.effort = ""
        self.providers: tuple[ProviderInfo, ...] = (ACME, COYOTE, LOCAL, ABSENT)
        self.keys = {"acme": "ACME_API_KEY"} if keys is None else keys
        self.servers = (
            FoundServer(
                provider=LOCAL,
                address="localhost:11434",
                models=(model("ollama", "qwen3-coder"), model("ollama", "gpt-oss:20b")),
            ),
        )
        self.live: dict[str, tuple[ModelInfo, ...]] = {"acme": (model("acme", "roadrunner-3-preview"),)}
        self.at_address: dict[str, FoundServer | KeenError] = {}
        self.sentence = "Acme answers in 0.3 s and has this model."
        self.refusal = ""
        self.loses_work = False
        self.kept: dict[str, str] = {}
        self.key_place = "the system keyring"
        self.calls: list[tuple[object, ...]] = []
        self.found = asyncio.Event()
        self.found.set()
        self.answered = asyncio.Event()
        self.answered.set()
        self.open_checks = 0

    def key_source(self, provider: ProviderInfo) -> str | None:
        needs_none = provider.by_address or not provider.key_variables
        return self.keys.get(provider.id) or ("" if needs_none else None)

    async def find_servers(self) -> tuple[FoundServer, ...]:
        await self.found.wait()
        return self.servers

    async def live_models(self, provider: ProviderInfo) -> tuple[ModelInfo, ...]:
        self.calls.append(("live_models", provider.id))
        if self.refusal:
            raise KeenError(self.refusal)
        return self.live.get(provider.id, ())

    async def find_server(self, address: str, key: str = "") -> FoundServer:
        self.calls.append(("find_server", address, key))
        await self.answered.wait()
        found = self.at_address.get(key or address) or ConfigError("There is no server.")
        if isinstance(found, KeenError):
            raise found
        if found.provider not in self.providers:
            self.providers = (found.provider, *self.providers)
        return found

    async def check(self, model: ModelInfo | None = None) -> str:
        self.calls.append(("check", model.id if model else ""))
        if model is None and self.current is None:
            raise SessionRefused("No model is chosen yet.")
        self.open_checks += 1
        try:
            await self.answered.wait()
        finally:
            self.open_checks -= 1
        if self.refusal:
            raise KeenError(self.refusal)
        return self.sentence

    def would_abandon(self, model: ModelInfo) -> bool:
        return self.loses_work and model != self.current

    def choose(self, model: ModelInfo, *, effort: str = "", abandon: bool = False) -> str:
        self.calls.append(("choose", model.id, effort, abandon))
        if self.refusal:
            raise KeenError(self.refusal)
        if self.key_source(next(each for each in self.providers if each.id == model.provider)) is None:
            raise ModelMissing(f"There is no key for {model.provider}.")
        if self.would_abandon(model) and not abandon:
            raise SessionRefused("An incomplete turn waits.")
        self.current, self.effort, self.loses_work = model, effort, False
        return f"{model.title} is now in use."

    async def key_destination(self) -> str:
        return self.key_place

    async def keep_key(self, provider: ProviderInfo, key: str) -> str:
        if not key.strip():
            raise ConfigError("The key is empty.")
        self.kept[provider.id] = key
        self.keys[provider.id] = self.key_place
        return f"Saved in {self.key_place}."
