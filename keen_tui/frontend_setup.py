"""Prepares what the screen works with: a new session, or the replay of a saved one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keen_tui.agent.playback import Playback
from keen_tui.agent.services.agent_service import AgentService
from keen_tui.agent.services.model_service import ModelService
from keen_tui.agent.services.review_service import ReviewService
from keen_tui.agent.services.task_service import TaskService
from keen_tui.agent.until.driver import RunDriver
from keen_tui.domain.errors import ModelMissing, StorageFailed
from keen_tui.frontends.shared.port import FrontEndSetup
from keen_tui.frontends.shared.slash import BUILT_IN
from keen_tui.providers.not_configured import NotConfigured
from keen_tui.providers.registry import build_provider
from keen_tui.settings.added.additions import Additions, read_additions
from keen_tui.settings.offers import Offers
from keen_tui.settings.schema import Settings
from keen_tui.settings.service import SettingsService
from keen_tui.storage.reading import read_session
from keen_tui.subcommands.sessions import asked_for
from keen_tui.system.paths import data_folder, home_folder
from keen_tui.system.work_tree_records import linked_git, project_folder
from keen_tui.tools.files.workspace import broad_folder
from keen_tui.tools.permissions.rule_check import check_rules
from keen_tui.wiring import (
    build_chooser,
    build_file_names,
    build_prompt_history,
    build_review,
    build_rules,
    build_saved_session,
    build_store,
    key_variables,
)

if TYPE_CHECKING:
    from keen_tui.agent.review.review import Review
    from keen_tui.agent.services.server_service import ServerService
    from keen_tui.agent.services.tree_service import TreeService
    from keen_tui.agent.session import Session
    from keen_tui.domain.review import ReviewWish
    from keen_tui.storage.sessions import SessionStore
    from keen_tui.tools.review.review_diff import ReviewDiff


def live(
    settings: Settings, given: Mapping[str, Any], environ: Mapping[str, str], problem: str = ""
) -> FrontEndSetup:
    """A session in the current folder. Without a model, the screen lets the user choose one and shows
    `problem`.

    Raises:
        KeenError: the session that was asked for can't be had.
    """
    chooser = build_chooser(environ)
    store = build_store(environ)
    opening = asked_for(given, store)
    try:
        choice = chooser.choice(settings)
        provider = build_provider(
            choice.model.api, choice.connection(settings.stall_seconds, searches=settings.web_search)
        )
        model = choice.model
    except ModelMissing as missing:
        choice, provider, model = None, NotConfigured(str(missing)), None
    additions = additions_here(settings, environ)
    session, history, changes = build_saved_session(
        settings,
        Path.cwd(),
        provider,
        model,
        store,
        environ,
        attended=True,
        additions=additions,
        chooser=chooser,
    )
    here = history.neighbours.enter() if history.neighbours else ()
    said = (problem, broad_folder(Path.cwd()), *given.get("entered", ()), *here, *additions.problems)
    return FrontEndSetup(
        session=session,
        controls=session,
        servers=_server_service(session, environ),
        tasks=TaskService(session.tasks),
        sub_agents=AgentService(session, store),
        runs=RunDriver(session, history),
        reviews=_review_service(session, settings, store, environ),
        models=ModelService(session, chooser, settings, choice, environ),
        history=history,
        changes=changes,
        files=build_file_names(session.workspace),
        prompts=build_prompt_history(session.workspace, environ),
        opening=opening,
        offers=Offers(data_folder(environ) / "offers.json"),
        problems=tuple(filter(None, said)),
        commands=additions.commands,
        skills=additions.skills,
        agents=additions.agents,
        agent_problems=additions.agent_problems,
        settings=SettingsService(given, environ, Path.cwd(), check_rules),
        tree=_tree_service(session.workspace, environ),
    )


def _review_service(
    session: Session, settings: Settings, store: SessionStore, environ: Mapping[str, str]
) -> ReviewService:
    """Reviews with the model in use, in sessions beside this one."""

    def read(wish: ReviewWish) -> ReviewDiff:
        from keen_tui.tools.review.review_diff import read_diff  # noqa: PLC0415 - not without a review

        return read_diff(session.workspace, wish, rules=build_rules(settings, environ), environ=environ)

    def build(diff: ReviewDiff) -> Review:
        provider = session.state.open.setup.provider.sibling(searches=False)
        return build_review(settings, provider, session.state.info, store, environ, diff)

    return ReviewService(read, build)


def _tree_service(workspace: Path, environ: Mapping[str, str]) -> TreeService | None:
    """The work tree of Keen's that is the workspace; None, and nothing of it is loaded, if that isn't one."""
    if not linked_git(workspace, environ):
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


def additions_here(settings: Settings, environ: Mapping[str, str]) -> Additions:
    """What the user and a trusted project add, for the current folder; in a work tree of Keen's, what its
    project adds."""
    return read_additions(
        project_folder(Path.cwd(), environ),
        environ,
        check_rules,
        BUILT_IN,
        servers=settings.mcp_servers,
        api_keys=lambda: key_variables(settings, environ),
    )


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
