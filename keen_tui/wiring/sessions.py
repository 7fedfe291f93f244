"""Builds sessions from settings, and those of their sub-agents."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from keen_tui.agent.hooks.hooks import HookCommands
from keen_tui.agent.instructions.instructions import InstructionFiles
from keen_tui.agent.services.change_service import ChangeService
from keen_tui.agent.services.other_programs import Neighbours
from keen_tui.agent.services.session_manager import SessionManager
from keen_tui.agent.services.undo import TurnBackup
from keen_tui.agent.session import Session
from keen_tui.agent.subagents.sub_agents import SubAgents
from keen_tui.agent.turn.approvals import Permissions
from keen_tui.agent.turn.audience import Audience
from keen_tui.agent.turn.retries import RetryPolicy
from keen_tui.agent.turn.turn_setup import TurnOptions
from keen_tui.domain.errors import ConfigError, SessionRefused
from keen_tui.domain.events import Event
from keen_tui.domain.models import ModelInfo
from keen_tui.providers.catalog.choice import Chooser
from keen_tui.providers.registry import build_provider
from keen_tui.providers.wire.provider import Provider
from keen_tui.settings.added.agents import AgentDefinition
from keen_tui.settings.added.hooks import POINTS_IN_AGENTS, PROJECT_FOLDER
from keen_tui.settings.additions import NO_ADDITIONS, Additions
from keen_tui.settings.config import is_declined
from keen_tui.settings.schema import Settings
from keen_tui.storage.lookup.sessions import SessionStore
from keen_tui.system.paths import QUARANTINE, data_folder, home_folder
from keen_tui.system.presence import Presence
from keen_tui.system.work_tree_records import project_folder
from keen_tui.tools.orphans.guard import guard
from keen_tui.tools.orphans.records import FOLDER as RUNNING
from keen_tui.tools.permissions.allowances import Allowances
from keen_tui.tools.process.hook_process import HookPrograms
from keen_tui.tools.rules.rules import NO_RULES, Rules
from keen_tui.tools.sandbox.command_network import CommandNetwork
from keen_tui.tools.sandbox.probe import SandboxFinder, no_sandbox, sandbox_here
from keen_tui.tools.toolbox import NO_PARTS, CommandTerms, ProgramParts, Toolbox, build_toolbox
from keen_tui.tools.work_tree.watch import SCRATCH
from keen_tui.wiring.parts import build_rules, key_variables

if TYPE_CHECKING:
    from keen_tui.agent.subagents.own_tree import OwnTree
    from keen_tui.tools.mcp.link import AuthFactory


class SessionProgram(Struct, frozen=True, kw_only=True):
    """The program around a session. `audience` can be asked. `additions` are what the user and a trusted
    project add, `parts` what the program itself brings along. `chooser` finds the models of sub-agents that
    name one; None: none can."""

    audience: Audience
    additions: Additions = NO_ADDITIONS
    parts: ProgramParts = NO_PARTS
    chooser: Chooser | None = None


def build_session(
    settings: Settings,
    workspace: Path,
    provider: Provider,
    info: ModelInfo | None,
    program: SessionProgram,
    *,
    backup: TurnBackup | None = None,
    rules: Rules = NO_RULES,
    allowances: Allowances | None = None,
    instruction_files: InstructionFiles | None = None,
    key_variables: Callable[[], Iterable[str]] = tuple,
) -> tuple[Session, SubAgents]:
    """A session in `workspace` that uses the provider, and its sub-agents. `info` is what is known of its
    model; `backup` saves what its tools change. `rules` are the user's, `allowances` what was allowed
    permanently here, `instruction_files` has AGENTS.md, `key_variables` names variables that hold API
    keys."""
    permissions = Permissions(
        mode=settings.mode,
        audience=program.audience,
        rules=rules,
        allowances=allowances,
        network=settings.network,
    )
    plan = _SessionPlan(settings, workspace, program, permissions, backup, instruction_files, key_variables)
    return plan.session(provider, info)


class _SessionPlan:
    """Builds a session, and later those of its sub-agents, from the same parts."""

    def __init__(
        self,
        settings: Settings,
        workspace: Path,
        program: SessionProgram,
        permissions: Permissions,
        backup: TurnBackup | None,
        instruction_files: InstructionFiles | None,
        key_variables: Callable[[], Iterable[str]],
    ) -> None:
        self._settings = settings
        self._workspace = workspace
        self._program = program
        self._permissions = permissions
        self._backup = backup
        self._files = instruction_files
        self._options = TurnOptions(
            max_steps=settings.max_steps,
            retries=RetryPolicy(attempts=settings.retry_attempts),
            policy=settings.memory_policy,
            compact_at=settings.compact_at,
        )
        project = project_folder(workspace, os.environ)  # the user agreed to the hooks of this folder
        self._hooks = HookCommands(
            program.additions.hooks,
            HookPrograms(project, dict.fromkeys(PROJECT_FOLDER, str(project)), key_variables),
        )
        self._commands = CommandTerms(
            sandbox=self._sandbox_in(workspace),
            network=CommandNetwork(setting=settings.network, is_open=permissions.rules.allow_all_hosts()),
            read_only_first=settings.permissions_read_only_first,
            aside=data_folder(os.environ) / QUARANTINE,
        )
        self._build_toolbox = partial(build_toolbox, rules=permissions.rules, key_variables=key_variables)
        self._session: Session | None = None

    def session(self, provider: Provider, info: ModelInfo | None) -> tuple[Session, SubAgents]:
        """The session, and its sub-agents."""
        additions = self._program.additions
        agents = SubAgents(
            self._start, self._enter_tree, self._forget_tree, at_once=self._settings.agents_at_once
        )
        self._session = Session(
            workspace=self._workspace,
            provider=provider,
            info=info,
            toolbox=self._build_toolbox(
                self._workspace,
                self._backup,
                commands=self._watched(),
                additions=additions,
                auth=_auth() if additions.servers else None,
                program=self._program.parts,
            ),
            agents=agents,
            permissions=self._permissions,
            options=self._options,
            instruction_files=self._files,
            hooks=self._hooks,
        )
        return self._session, agents

    def _start(self, agent: AgentDefinition, hear: Callable[[Event], None], tree: OwnTree | None) -> Session:
        """The session of a sub-agent, which works in that work tree if there is one."""
        parent = self._session
        assert parent
        provider, info = self._model_of(agent, parent)
        shared = replace(parent.shared, agent=agent.name, role=agent.instructions, hear=hear)
        workspace, files = self._workspace, self._files
        if tree:
            workspace = tree.path
            files = files and replace(files, workspace=tree.path)
            role, grants = f"{shared.role}\n\n{tree.role}", shared.grants.apart()
            shared = replace(shared, role=role, grants=grants)
        toolbox = self._tools_in(tree).narrowed(agent, parent.state.open.setup.toolbox)
        max_steps = self._settings.max_steps
        return Session(
            workspace=workspace,
            provider=provider,
            info=info,
            toolbox=toolbox,
            agents=SubAgents(),
            permissions=replace(self._permissions, mode=agent.mode_under(parent.mode)),
            options=replace(
                self._options, max_steps=min(agent.max_steps or max_steps, max_steps), policy=parent.policy
            ),
            instruction_files=files,
            hooks=replace(
                self._hooks, hooks=[hook for hook in self._hooks.hooks if hook.point in POINTS_IN_AGENTS]
            ),
            shared=shared,
        )

    def _model_of(self, agent: AgentDefinition, parent: Session) -> tuple[Provider, ModelInfo | None]:
        """The model that it names, else the one of the parent."""
        if agent.model:
            return _model_named(agent.model, self._settings, self._program.chooser)
        provider = parent.state.open.setup.provider
        return provider.sibling(searches=agent.may_use("web_search")), parent.state.info

    def _tools_in(self, tree: OwnTree | None) -> Toolbox:
        """The tools of a sub-agent, before they are narrowed. Of a program's functions, one with a work tree
        has those that only read: the others know nothing of the tree."""
        skills, parts = replace(NO_ADDITIONS, skills=self._program.additions.skills), self._program.parts
        if tree is None:
            return self._build_toolbox(
                self._workspace, self._backup, commands=self._commands, additions=skills, program=parts
            )
        return self._build_toolbox(
            tree.path,
            self._backup and self._backup.apart(),
            commands=replace(self._watched(), sandbox=self._sandbox_in(tree.path)),
            additions=skills,
            program=ProgramParts([each for each in parts.functions if each.reads_only]),
            caller=self._workspace,
        )

    def _watched(self) -> CommandTerms:
        """The terms of commands whose changes are noticed."""
        scratch, watched = data_folder(os.environ) / SCRATCH, self._settings.memory_watch_commands
        return replace(self._commands, scratch=scratch, watched=watched)

    def _sandbox_in(self, folder: Path) -> SandboxFinder:
        if not self._settings.sandbox:
            return no_sandbox()
        return sandbox_here(folder, os.environ, [skill.folder for skill in self._program.additions.skills])

    def _enter_tree(self, agent: AgentDefinition, session_id: str) -> OwnTree:
        assert self._session
        if agent.mode_under(self._session.mode) == "plan":
            raise SessionRefused(
                "In plan mode there is no work tree for it: git would have to make a branch."
            )
        from keen_tui.agent.subagents import own_tree  # noqa: PLC0415 - only where one works apart

        return own_tree.enter_tree(self._workspace, agent.name, session_id)

    def _forget_tree(self, agent: str, session_id: str) -> None:
        from keen_tui.agent.subagents import own_tree  # noqa: PLC0415 - only where one worked

        own_tree.forget_tree(self._workspace, agent, session_id)


def _model_named(name: str, settings: Settings, chooser: Chooser | None) -> tuple[Provider, ModelInfo]:
    """The client of a model by its name. Raises KeenError."""
    if chooser is None:
        raise ConfigError(f"The model {name} isn't available here.")
    wanted = settings._replace(model=name, provider="", api="", base_url="", api_key_env="", effort="")
    choice = chooser.choice(wanted._replace(context_window=0))
    connection = choice.connection(settings.stall_seconds, searches=settings.web_search)
    return build_provider(choice.model.api, connection), choice.model


def _auth() -> AuthFactory:
    from keen_tui.tools.mcp.sign_ins import SignIns  # noqa: PLC0415 - not without a server

    return SignIns(home_folder(os.environ)).auth


def build_saved_session(
    settings: Settings,
    workspace: Path,
    provider: Provider,
    info: ModelInfo | None,
    store: SessionStore,
    environ: Mapping[str, str],
    program: SessionProgram,
) -> tuple[Session, SessionManager, ChangeService]:
    """A session that is saved, the manager that saves it and puts others in its place, and its changes.

    Raises:
        ConfigError: a rule of the settings is none, or what was allowed for good can't be read.
    """
    backup = TurnBackup()
    guard().records = data_folder(environ) / RUNNING
    session, agents = build_session(
        settings,
        workspace,
        provider,
        info,
        program,
        backup=backup,
        rules=build_rules(settings, environ),
        allowances=Allowances(home_folder(environ) / "allowances.json", project_folder(workspace, environ)),
        instruction_files=InstructionFiles(
            workspace=workspace,
            settings_folder=home_folder(environ),
            home=Path.home(),
            fallbacks=settings.instructions_fallbacks,
        ),
        key_variables=lambda: key_variables(settings, environ),
    )
    manager = SessionManager(
        session,
        store,
        backup,
        keeps_pending=settings.pending_durable,
        memory_only=lambda: is_declined("pending_durable", environ),
        titles=settings.titles if program.audience.is_person else "off",
        indexes=program.audience.is_person,
        neighbours=Neighbours(session, Presence(environ, workspace), store.checkpoints_of),
        agents=agents,
    )
    return session, manager, ChangeService(session, backup)
