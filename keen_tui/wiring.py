"""The one place that builds real objects from settings."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from keen_tui.agent.instructions.instructions import InstructionFiles
from keen_tui.agent.services.change_service import ChangeService
from keen_tui.agent.services.neighbours import Neighbours
from keen_tui.agent.services.prompt_history import PromptHistory
from keen_tui.agent.services.session_manager import SessionManager
from keen_tui.agent.services.undo import TurnBackup
from keen_tui.agent.session import Session
from keen_tui.agent.shared_with_parent import Shared
from keen_tui.agent.subagents.sub_agents import SubAgents
from keen_tui.agent.turn.reply import NO_AUDIENCE, Audience
from keen_tui.agent.turn.retries import RetryPolicy
from keen_tui.agent.turn.work_clock import WorkClock
from keen_tui.domain.errors import ConfigError, SessionRefused
from keen_tui.domain.events import Event
from keen_tui.domain.models import ModelInfo
from keen_tui.providers.catalog.catalog import load_catalog
from keen_tui.providers.catalog.choice import Chooser
from keen_tui.providers.registry import build_provider
from keen_tui.providers.wire.provider import Provider
from keen_tui.settings.added.agents import AgentDefinition
from keen_tui.settings.added.hooks import FILE as HOOKS
from keen_tui.settings.added.hooks import POINTS_IN_AGENTS, PROJECT_FOLDER, read_own_hooks
from keen_tui.settings.additions import NO_ADDITIONS, Additions
from keen_tui.settings.config import is_declined
from keen_tui.settings.credentials import Keys
from keen_tui.settings.schema import Settings
from keen_tui.storage.lookup.sessions import SessionStore
from keen_tui.storage.prompts import PromptStore
from keen_tui.system.executables import find_program
from keen_tui.system.paths import QUARANTINE, data_folder, home_folder, settings_file
from keen_tui.system.presence import Presence
from keen_tui.system.work_tree_records import project_folder
from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.orphans.guard import guard
from keen_tui.tools.orphans.records import FOLDER as RUNNING
from keen_tui.tools.permissions.allowances import Allowances
from keen_tui.tools.process.hook_process import HookPrograms
from keen_tui.tools.rules.rules import NO_RULES, RULINGS, Rules, parse_rules
from keen_tui.tools.sandbox.command_network import CommandNetwork
from keen_tui.tools.sandbox.probe import SandboxFinder, no_sandbox, sandbox_here
from keen_tui.tools.search.file_names import FileNames
from keen_tui.tools.search.search import Searcher
from keen_tui.tools.toolbox import build_toolbox
from keen_tui.tools.work_tree.watch import SCRATCH

if TYPE_CHECKING:
    from keen_tui.agent.review.review import Review
    from keen_tui.agent.subagents.own_tree import OwnTree
    from keen_tui.tools.files.workspace import EditorFiles
    from keen_tui.tools.functions.signature import FunctionSpec
    from keen_tui.tools.mcp.link import AuthFactory
    from keen_tui.tools.review.review_diff import ReviewDiff


def build_chooser(environ: Mapping[str, str]) -> Chooser:
    """The catalogue, with the user's additions, and the keys."""
    home = home_folder(environ)
    return Chooser(load_catalog(home / "providers"), Keys(environ, home), environ)


def build_session(
    settings: Settings,
    workspace: Path,
    provider: Provider,
    info: ModelInfo | None,
    *,
    audience: Audience,
    backup: TurnBackup | None = None,
    rules: Rules = NO_RULES,
    allowances: Allowances | None = None,
    instruction_files: InstructionFiles | None = None,
    key_variables: Callable[[], Iterable[str]] = tuple,
    additions: Additions = NO_ADDITIONS,
    functions: Sequence[FunctionSpec] = (),
    chooser: Chooser | None = None,
    editor: EditorFiles | None = None,
) -> tuple[Session, SubAgents]:
    """A session in `workspace` that uses the provider, and its sub-agents. `info` is what is known of its
    model; `audience` can be asked; `backup` saves what its tools change. `rules` are the user's, `allowances`
    what was allowed permanently here, `instruction_files` has AGENTS.md, `key_variables` names variables that
    hold API keys, `additions` are what the user and a trusted project add, `functions` the tools of a
    program. `chooser` finds the models of sub-agents that name one; None: none can. `editor` has the files as
    the person sees them; None: the disk has."""
    project = project_folder(workspace, os.environ)  # hooks run there: what the user agreed to is there

    def sandbox_in(folder: Path) -> SandboxFinder:
        skills = [skill.folder for skill in additions.skills]
        return sandbox_here(folder, os.environ, skills) if settings.sandbox else no_sandbox()

    toolbox = partial(
        build_toolbox,
        root=workspace,
        backup=backup,
        rules=rules,
        sandbox=sandbox_in(workspace),
        network=CommandNetwork(setting=settings.network, is_open=rules.allow_all_hosts()),
        key_variables=key_variables,
        read_only_first=settings.permissions_read_only_first,
        kept_back=data_folder(os.environ) / QUARANTINE,
        skills=additions.skills,
        functions=functions,
        editor=editor,
    )
    watching = partial(
        toolbox, scratch=data_folder(os.environ) / SCRATCH, watches_commands=settings.memory_watch_commands
    )
    built = partial(
        Session,
        workspace=workspace,
        audience=audience,
        retries=RetryPolicy(attempts=settings.retry_attempts),
        compact_at=settings.compact_at,
        rules=rules,
        allowances=allowances,
        network=settings.network,
        instruction_files=instruction_files,
        hook_programs=HookPrograms(project, dict.fromkeys(PROJECT_FOLDER, str(project)), key_variables),
    )

    def start(agent: AgentDefinition, hear: Callable[[Event], None], tree: OwnTree | None) -> Session:
        parent = session.state.open.setup
        provider, known = parent.provider.sibling(searches=agent.may_use("web_search")), session.state.info
        if agent.model:
            provider, known = _model_named(agent.model, settings, chooser)
        make, tools = built, toolbox
        shared = replace(session.shared, agent=agent.name, role=agent.instructions, hear=hear)
        if tree:
            tools = partial(
                watching,
                root=tree.path,
                backup=backup and backup.apart(),
                sandbox=sandbox_in(tree.path),
                functions=[each for each in functions if each.reads_only],  # others know nothing of the tree
                editor=None,
                caller=workspace,
            )
            files = instruction_files and replace(instruction_files, workspace=tree.path)
            make = partial(built, workspace=tree.path, instruction_files=files)
            role, grants = f"{shared.role}\n\n{tree.role}", shared.grants.apart()
            shared = replace(shared, role=role, grants=grants)
        return make(
            provider=provider,
            info=known,
            toolbox=tools().narrowed(agent, parent.toolbox),
            mode=agent.mode_under(session.mode),
            max_steps=min(agent.max_steps or settings.max_steps, settings.max_steps),
            policy=session.policy,
            hooks=[hook for hook in additions.hooks if hook.point in POINTS_IN_AGENTS],
            agents=SubAgents(),
            shared=shared,
        )

    def enter_tree(agent: AgentDefinition, session_id: str) -> OwnTree:
        if agent.mode_under(session.mode) == "plan":
            raise SessionRefused(
                "In plan mode there is no work tree for it: git would have to make a branch."
            )
        from keen_tui.agent.subagents import own_tree  # noqa: PLC0415 - only where one works apart

        return own_tree.enter_tree(workspace, agent.name, session_id)

    def forget_tree(agent: str, session_id: str) -> None:
        from keen_tui.agent.subagents import own_tree  # noqa: PLC0415 - only where one worked

        own_tree.forget_tree(workspace, agent, session_id)

    agents = SubAgents(start, enter_tree, forget_tree, at_once=settings.agents_at_once)
    session = built(
        provider=provider,
        info=info,
        toolbox=watching(
            servers=additions.servers,
            auth=_auth() if additions.servers else None,
            agents=additions.agents,
        ),
        mode=settings.mode,
        max_steps=settings.max_steps,
        policy=settings.memory_policy,
        hooks=additions.hooks,
        agents=agents,
    )
    return session, agents


def build_review(
    settings: Settings,
    provider: Provider,
    info: ModelInfo | None,
    store: SessionStore,
    environ: Mapping[str, str],
    diff: ReviewDiff,
    hear: Callable[[Event], None] = lambda _: None,
) -> Review:
    """A review of the diff. Its session uses what the user has set, and nothing that the project brings: no
    instructions, hooks, servers, skills and sub-agents. It can only read, and nobody is asked. `hear` is told
    its events.

    Raises:
        ConfigError: a rule or a hook of the user's settings is wrong.
    """
    from keen_tui.agent.review.review import Review  # noqa: PLC0415 - not without a review
    from keen_tui.agent.review.reviewer import REVIEWER  # noqa: PLC0415
    from keen_tui.tools.builtin.report_findings import ReportFindings  # noqa: PLC0415

    backup, rules, home = TurnBackup(), build_rules(settings, environ), home_folder(environ)
    points = POINTS_IN_AGENTS - {"SubagentStart", "SubagentStop"}
    tools = build_toolbox(
        diff.root, backup, rules=rules, key_variables=lambda: key_variables(settings, environ)
    )
    tool = ReportFindings(diff.files)
    session = Session(
        workspace=diff.root,
        provider=provider,
        info=info,
        toolbox=tools.narrowed(REVIEWER, tools, [tool]),
        agents=SubAgents(),
        mode="plan",
        audience=NO_AUDIENCE,
        max_steps=settings.max_steps,
        retries=RetryPolicy(attempts=settings.retry_attempts),
        compact_at=settings.compact_at,
        rules=rules,
        network="off",
        instruction_files=InstructionFiles(
            workspace=diff.root, settings_folder=home, home=Path.home(), of_project=False
        ),
        hooks=[hook for hook in read_own_hooks(home / HOOKS).found if hook.point in points],
        hook_programs=HookPrograms(
            diff.root,
            dict.fromkeys(PROJECT_FOLDER, str(diff.root)),
            lambda: key_variables(settings, environ),
        ),
        shared=Shared(clock=WorkClock(time.monotonic), role=REVIEWER.instructions),
        attaches=False,
    )
    return Review(session, SessionManager(session, store, backup), tool, diff, hear)


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


def build_rules(settings: Settings, environ: Mapping[str, str]) -> Rules:
    """The rules of the user's settings. Raises ConfigError if one isn't a rule."""
    where = str(settings_file(environ))
    by_ruling = {ruling: getattr(settings, f"permissions_{ruling}") for ruling in RULINGS}
    return Rules(rule for ruling, texts in by_ruling.items() for rule in parse_rules(ruling, texts, where))


def key_variables(settings: Settings, environ: Mapping[str, str]) -> Iterable[str]:
    """The variables that hold API keys, as the settings and the whole catalogue name them."""
    catalog = load_catalog(home_folder(environ) / "providers")
    names = (name for provider in catalog.providers.values() for name in provider.key_variables)
    return frozenset({*names, settings.api_key_env} - {""})


def build_file_names(workspace: Path) -> FileNames:
    """The files of the workspace by name."""
    return FileNames(Searcher(Workspace(workspace), find_program("rg")))


def build_prompt_history(workspace: Path, environ: Mapping[str, str]) -> PromptHistory:
    """The prompts and drafts that the user writes."""
    return PromptHistory(PromptStore(data_folder(environ), workspace), os.path.realpath(workspace))


def build_store(environ: Mapping[str, str]) -> SessionStore:
    """All saved sessions."""
    return SessionStore(data_folder(environ))


def build_saved_session(
    settings: Settings,
    workspace: Path,
    provider: Provider,
    info: ModelInfo | None,
    store: SessionStore,
    environ: Mapping[str, str],
    *,
    audience: Audience,
    additions: Additions = NO_ADDITIONS,
    functions: Sequence[FunctionSpec] = (),
    chooser: Chooser | None = None,
    editor: EditorFiles | None = None,
) -> tuple[Session, SessionManager, ChangeService]:
    """A session that is saved, the manager that saves it and puts others in its place, and its changes.
    `audience` can be asked, `additions` are what the user and a trusted project add, `functions` the tools of
    a program; `chooser` finds the models of sub-agents, `editor` has the files as the person sees them.

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
        audience=audience,
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
        additions=additions,
        functions=functions,
        chooser=chooser,
        editor=editor,
    )
    manager = SessionManager(
        session,
        store,
        backup,
        keeps_pending=settings.pending_durable,
        memory_only=lambda: is_declined("pending_durable", environ),
        titles=settings.titles if audience.is_person else "off",
        indexes=audience.is_person,
        neighbours=Neighbours(session, Presence(environ, workspace), store.checkpoints_of),
        agents=agents,
    )
    return session, manager, ChangeService(session, backup)
