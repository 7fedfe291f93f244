"""Prepares what front ends for a person work with: a new session, or the replay of a saved one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from keen_tui.agent.review.review_service import ReviewService
from keen_tui.agent.services.agent_service import AgentService
from keen_tui.agent.services.model_service import ModelService
from keen_tui.agent.services.playback import Playback
from keen_tui.agent.services.task_service import TaskService
from keen_tui.agent.turn.audience import PERSON
from keen_tui.agent.until.driver import RunDriver
from keen_tui.domain.errors import KeenError, ModelMissing, StorageFailed
from keen_tui.domain.events import Event, ReviewUsed, Usage
from keen_tui.frontends.shared.commands.slash import BUILT_IN
from keen_tui.frontends.shared.port import FrontEndSetup
from keen_tui.providers.not_configured import NotConfigured
from keen_tui.providers.registry import build_provider
from keen_tui.settings.added.agents import BUILT_IN_SOURCE
from keen_tui.settings.added.brought import first_names
from keen_tui.settings.additions import Additions, read_additions
from keen_tui.settings.load import load_all
from keen_tui.settings.offers import Offers
from keen_tui.settings.schema import Settings
from keen_tui.settings.service import SettingsService
from keen_tui.storage.reading import read_session
from keen_tui.subcommands.sessions import asked_for
from keen_tui.system.paths import data_folder, home_folder
from keen_tui.system.work_tree_records import is_work_tree, project_folder
from keen_tui.text.sanitize import clean
from keen_tui.tools.builtin.task import unseen_notice
from keen_tui.tools.files.workspace import broad_folder
from keen_tui.tools.permissions.rule_check import check_rules
from keen_tui.tools.toolbox import ProgramParts
from keen_tui.wiring.parts import (
    build_chooser,
    build_file_names,
    build_prompt_history,
    build_rules,
    build_store,
    key_variables,
)
from keen_tui.wiring.reviews import build_review
from keen_tui.wiring.sessions import SessionProgram, build_saved_session

if TYPE_CHECKING:
    from keen_tui.agent.review.review import Review
    from keen_tui.agent.services.server_service import ServerService
    from keen_tui.agent.services.tree_service import TreeService
    from keen_tui.agent.session import Session
    from keen_tui.domain.reports import SavedSession
    from keen_tui.domain.review import ReviewWish
    from keen_tui.frontends.shared.editor_port import FilesOfEditor, NamedServer
    from keen_tui.storage.lookup.sessions import SessionStore
    from keen_tui.tools.review.review_diff import ReviewDiff


def live(
    settings: Settings, given: Mapping[str, Any], environ: Mapping[str, str], problem: str = ""
) -> FrontEndSetup:
    """A session in the current folder. Without a model, the screen lets the user choose one and shows
    `problem`.

    Raises:
        KeenError: the session that was asked for can't be had.
    """
    store = build_store(environ)
    opening, folder = asked_for(given, store), Path.cwd()
    additions = additions_here(settings, environ, folder, sets_up="init" in given)
    said = (problem, broad_folder(folder), *given.get("entered", ()))
    return _set_up(settings, given, environ, folder, store, additions, said=said, opening=opening)


class EditorSessions:
    """What an editor works with: a session for each folder that it names, and those that are saved. `given`
    are the flags of the command line, which all sessions have."""

    def __init__(self, given: Mapping[str, Any], environ: Mapping[str, str]) -> None:
        self._given = given
        self._environ = environ

    def missing(self) -> str:
        """Why no model can be used, as a sentence; "" if one can. Blocks."""
        try:
            settings, _ = load_all(self._given, self._environ, None, check_rules)
            build_chooser(self._environ).choice(settings)
        except KeenError as missing:
            return str(missing)
        return ""

    def begin(
        self, folder: Path, servers: Sequence[NamedServer], files: FilesOfEditor | None
    ) -> FrontEndSetup:
        """A session in that folder, with the editor's servers and files. Raises KeenError."""
        settings, problem = load_all(self._given, self._environ, folder, check_rules)
        additions = additions_here(settings, self._environ, folder)
        if servers:
            additions = _with_servers(additions, servers)
        said = (problem, broad_folder(folder))
        store = build_store(self._environ)
        return _set_up(settings, self._given, self._environ, folder, store, additions, said=said, files=files)

    async def sessions(self, folder: Path | None) -> tuple[SavedSession, ...]:
        """The saved sessions of that folder, None for all, newest first. Raises KeenError."""
        return await asyncio.to_thread(build_store(self._environ).list, folder)


def _with_servers(additions: Additions, named: Sequence[NamedServer]) -> Additions:
    """With the servers that an editor names. Where one of that name is configured, that one is used."""
    from keen_tui.settings.added.mcp_entries import (  # noqa: PLC0415 - not without a server
        SHARED_FIELDS,
        WrongEntry,
        server_of,
        usable_name,
    )

    used, problems = list(additions.servers), list(additions.problems)
    for each in named:
        name = usable_name(each.name)
        if name in {server.name for server in used}:
            problems.append(f"The editor's MCP server {name} isn't used: you have one of that name.")
            continue
        try:
            if not name:
                raise WrongEntry("", "needs a name with letters or digits")
            used.append(server_of(name, each.entry, SHARED_FIELDS))
        except WrongEntry as wrong:
            problems.append(f"The editor's MCP server {clean(each.name)} isn't used: {wrong.sentence}.")
    return replace(additions, servers=tuple(used), problems=tuple(problems))


def _set_up(
    settings: Settings,
    given: Mapping[str, Any],
    environ: Mapping[str, str],
    folder: Path,
    store: SessionStore,
    additions: Additions,
    *,
    said: Sequence[str],
    opening: SavedSession | None = None,
    files: FilesOfEditor | None = None,
) -> FrontEndSetup:
    """A session in `folder`, and everything around it. `said` are sentences to tell at the start."""
    chooser = build_chooser(environ)
    try:
        choice = chooser.choice(settings)
        provider = build_provider(
            choice.model.api, choice.connection(settings.stall_seconds, searches=settings.web_search)
        )
        model = choice.model
    except ModelMissing as missing:
        choice, provider, model = None, NotConfigured(str(missing)), None
    session, history, changes = build_saved_session(
        settings,
        folder,
        provider,
        model,
        store,
        environ,
        SessionProgram(
            audience=PERSON, additions=additions, parts=ProgramParts(editor=files), chooser=chooser
        ),
    )
    here = history.neighbours.enter() if history.neighbours else ()
    return FrontEndSetup(
        session=session,
        controls=session,
        servers=_server_service(session, environ),
        tasks=TaskService(session.tasks),
        sub_agents=AgentService(history.agents, store),
        runs=RunDriver(session, history),
        reviews=_review_service(session, settings, store, environ),
        models=ModelService(session, chooser, settings, choice, environ),
        history=history,
        changes=changes,
        files=build_file_names(session.workspace),
        prompts=build_prompt_history(session.workspace, environ),
        opening=opening,
        offers=Offers(data_folder(environ) / "offers.json"),
        problems=tuple(filter(None, (*said, *here, *additions.problems))),
        commands=additions.commands,
        skills=additions.skills,
        agents=additions.agents,
        agent_problems=additions.agent_problems,
        settings=SettingsService(given, environ, folder, check_rules),
        tree=_tree_service(session.workspace, environ),
    )


def _review_service(
    session: Session, settings: Settings, store: SessionStore, environ: Mapping[str, str]
) -> ReviewService:
    """Reviews with the model in use, in sessions beside this one."""

    def read(wish: ReviewWish) -> ReviewDiff:
        from keen_tui.tools.review.review_diff import read_diff  # noqa: PLC0415 - not without a review

        return read_diff(session.workspace, wish, rules=build_rules(settings, environ), environ=environ)

    def count(event: Event) -> None:
        if isinstance(event, Usage):
            used = ReviewUsed(step=event.step, tokens=event.tokens, cost=event.cost, model=event.model)
            session.bus.publish(used)

    def build(diff: ReviewDiff) -> Review:
        provider = session.state.open.setup.provider.sibling(searches=False)
        return build_review(settings, provider, session.state.info, store, environ, diff, count)

    return ReviewService(read, build)


def _tree_service(workspace: Path, environ: Mapping[str, str]) -> TreeService | None:
    """The work tree of Keen's that is the workspace; None, and nothing of it is loaded, if that isn't one."""
    if not is_work_tree(workspace, environ):
        return None
    from keen_tui.agent.services.tree_service import TreeService  # noqa: PLC0415
    from keen_tui.tools.git.work_trees import WorkTrees  # noqa: PLC0415

    tree = WorkTrees(environ).at(workspace)
    return TreeService(tree, environ) if tree else None


def _server_service(session: Session, environ: Mapping[str, str]) -> ServerService | None:
    """The MCP servers of the session; None, and nothing of them is loaded, if there are none."""
    servers = session.state.open.setup.toolbox.servers
    if not servers:
        return None
    from keen_tui.agent.services.server_service import ServerService  # noqa: PLC0415

    return ServerService(servers, home_folder(environ))


def additions_here(
    settings: Settings, environ: Mapping[str, str], folder: Path | None = None, *, sets_up: bool = False
) -> Additions:
    """What the user and a trusted project add, for a folder (None: the current one); in a work tree of
    Keen's, what its project adds. The hooks for the setup are among it only if Keen `sets_up` the project."""
    read = read_additions(
        project_folder(folder or Path.cwd(), environ),
        environ,
        check_rules,
        BUILT_IN,
        servers=settings.mcp_servers,
        api_keys=lambda: key_variables(settings, environ),
    )
    if not sets_up:
        read = replace(read, hooks=tuple(hook for hook in read.hooks if hook.point != "Setup"))
    told = unseen_notice(read.agents)
    if not settings.web_search and (names := _searching(read)):
        told += (f"These sub-agents can't use WebSearch, since web search is off: {first_names(names)}.",)
    if told:
        read = replace(read, problems=(*read.problems, *told), agent_problems=(*read.agent_problems, *told))
    if not read.skills:
        return read
    from keen_tui.tools.builtin.skill_list import skill_list  # noqa: PLC0415 - only where there are skills

    return replace(read, problems=(*read.problems, *filter(None, (skill_list(read.skills).notice,))))


def _searching(read: Additions) -> list[str]:
    """The sub-agents whose files name the web search."""
    named = (each for each in read.agents if each.source != BUILT_IN_SOURCE and each.tools is not None)
    return [each.name for each in named if each.may_use("web_search")]


def replay(file: str, speed: float, environ: Mapping[str, str]) -> FrontEndSetup:
    """A saved session to replay, given as a file or by its id.

    Raises:
        StorageFailed: there is none, it can't be read, or nothing in it is of a session.
    """
    path = Path(file) if Path(file).exists() else build_store(environ).path_of(file)
    saved = read_session(path)
    if not saved.records:
        raise StorageFailed(f"{path} isn't a Keen session: nothing in it can be played.")
    session = Playback(saved, Path(saved.header.workspace or "."), speed=speed)
    return FrontEndSetup(session=session, controls=None, companion=lambda _: session.play())
