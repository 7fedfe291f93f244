"""Builds reviews."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from keen_tui.agent.hooks.hooks import HookCommands
from keen_tui.agent.instructions.instructions import InstructionFiles
from keen_tui.agent.services.session_manager import SessionManager
from keen_tui.agent.services.undo import TurnBackup
from keen_tui.agent.session import Session
from keen_tui.agent.shared_with_parent import Shared
from keen_tui.agent.subagents.sub_agents import SubAgents
from keen_tui.agent.turn.approvals import Permissions
from keen_tui.agent.turn.audience import NO_AUDIENCE
from keen_tui.agent.turn.retries import RetryPolicy
from keen_tui.agent.turn.turn_setup import TurnOptions
from keen_tui.agent.turn.work_clock import WorkClock
from keen_tui.domain.events import Event
from keen_tui.domain.models import ModelInfo
from keen_tui.providers.wire.provider import Provider
from keen_tui.settings.added.hooks import FILE as HOOKS
from keen_tui.settings.added.hooks import POINTS_IN_AGENTS, PROJECT_FOLDER, read_own_hooks
from keen_tui.settings.schema import Settings
from keen_tui.storage.lookup.sessions import SessionStore
from keen_tui.system.paths import home_folder
from keen_tui.tools.process.hook_process import HookPrograms
from keen_tui.tools.toolbox import build_toolbox

if TYPE_CHECKING:
    from keen_tui.agent.review.review import Review
    from keen_tui.tools.review.review_diff import ReviewDiff
from keen_tui.wiring.parts import build_rules, key_variables


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
        permissions=Permissions(mode="plan", audience=NO_AUDIENCE, rules=rules, network="off"),
        options=TurnOptions(
            max_steps=settings.max_steps,
            retries=RetryPolicy(attempts=settings.retry_attempts),
            compact_at=settings.compact_at,
            attaches=False,
        ),
        instruction_files=InstructionFiles(
            workspace=diff.root, settings_folder=home, home=Path.home(), of_project=False
        ),
        hooks=HookCommands(
            [hook for hook in read_own_hooks(home / HOOKS).found if hook.point in points],
            HookPrograms(
                diff.root,
                dict.fromkeys(PROJECT_FOLDER, str(diff.root)),
                lambda: key_variables(settings, environ),
            ),
        ),
        shared=Shared(clock=WorkClock(time.monotonic), role=REVIEWER.instructions),
    )
    return Review(session, SessionManager(session, store, backup), tool, diff, hear)
