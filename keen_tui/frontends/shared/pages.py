"""Pages that commands show. The screen opens them over the workspace; the line front end prints and asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:
    from keen_tui.domain.reports import Changes, ContextReport, Setting
    from keen_tui.frontends.shared.changes import ShownFile
    from keen_tui.frontends.shared.history_port import HistoryPort
    from keen_tui.frontends.shared.port import ModelsPort, SettingsPort
    from keen_tui.frontends.shared.review_port import ReviewsPort
    from keen_tui.frontends.shared.servers_port import OpenSignIn, ServersPort
    from keen_tui.frontends.shared.tasks_port import TasksPort
    from keen_tui.settings.added.agents import AgentDefinition


class HelpPage(Struct, frozen=True):
    """Keys and commands: those with all of the words, "" for all."""

    words: str = ""


class UsagePage(Struct, frozen=True):
    """Tokens and cost of the session, turn by turn and in all."""


class ContextPage(Struct, frozen=True):
    """The next request, if `draft` is sent now."""

    report: ContextReport
    draft: str


class ChangesPage(Struct, frozen=True):
    """Changes of a turn or of the session: at least one file."""

    changes: Changes
    files: Sequence[ShownFile]


class ShownSkill(Struct, frozen=True, kw_only=True):
    """A skill in the list. `used_bytes` are those of its text if it is in use, else None. `by_person`: the
    user can call it; `by_model`: the model can load it on its own."""

    name: str
    where: str
    description: str = ""
    used_bytes: int | None = None
    by_person: bool = True
    by_model: bool = True
    remarks: tuple[str, ...] = ()

    @property
    def used_by(self) -> str:
        """Who uses it."""
        if self.by_person and self.by_model:
            return f"used by you, with /{self.name}, and by the model"
        if self.by_person:
            return f"used by you only, with /{self.name}"
        return "used by the model only" if self.by_model else "can't be used"


class SkillsPage(Struct, frozen=True):
    """All skills, at least one. `unload` unloads one by its name, and may raise SessionRefused; None in a
    replay."""

    skills: Sequence[ShownSkill]
    unload: Callable[[str], None] | None


class AgentsPage(Struct, frozen=True):
    """The definitions of sub-agents, and sentences about those that can't be used."""

    agents: Sequence[AgentDefinition]
    problems: Sequence[str]


class SettingsPage(Struct, frozen=True):
    """All settings, each to be changed."""

    port: SettingsPort
    settings: tuple[Setting, ...]


class SessionsPage(Struct, frozen=True):
    """Saved sessions to choose from: those that fit the words, "" for all."""

    history: HistoryPort
    words: str


class ModelsPage(Struct, frozen=True):
    """Models to choose from: at first those that fit the words, "" for all."""

    models: ModelsPort
    words: str = ""


class KeyPage(Struct, frozen=True):
    """Takes an API key."""

    models: ModelsPort


class ServerPage(Struct, frozen=True):
    """Takes the address of a model server and asks that server; "" while the address is not known."""

    models: ModelsPort
    address: str


class McpPage(Struct, frozen=True):
    """The MCP servers; with a `name` that one, whole."""

    port: ServersPort
    name: str


class SignInPage(Struct, frozen=True):
    """A sign-in to an MCP server that waits for the user."""

    sign_in: OpenSignIn


class TasksPage(Struct, frozen=True):
    """The commands in the background, at least one; with an `id` that one, whole."""

    port: TasksPort
    id: str


class ReviewPage(Struct, frozen=True):
    """The newest review: how far it is, then what it found."""

    port: ReviewsPort


Page: TypeAlias = (
    HelpPage
    | UsagePage
    | ContextPage
    | ChangesPage
    | SettingsPage
    | SkillsPage
    | AgentsPage
    | SessionsPage
    | ModelsPage
    | KeyPage
    | ServerPage
    | McpPage
    | SignInPage
    | TasksPage
    | ReviewPage
)
