"""`keen-tui review`, from its flags to its exit code."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO, get_args

from keen_tui.agent.review.review import report_of
from keen_tui.domain.errors import ConfigError
from keen_tui.domain.review import ReviewReport, ReviewWish, ScopeKind
from keen_tui.frontends.headless.outlets import note, require_writable
from keen_tui.frontends.headless.review import note_progress, print_report, run_review
from keen_tui.providers.registry import build_provider
from keen_tui.settings.schema import Settings
from keen_tui.tools.review.review_diff import ReviewDiff, read_diff
from keen_tui.wiring.parts import build_chooser, build_rules, build_store
from keen_tui.wiring.reviews import build_review


def run(
    settings: Settings, given: Mapping[str, Any], environ: Mapping[str, str], out: TextIO, err: TextIO
) -> int:
    """Review the changes that the command line names, and print what was found. Returns the exit code.

    Args:
        settings: the user's; nothing of the project is in them.

    Raises:
        ConfigError: no repository, branch or commit of that name, or wrong flags.
        ModelMissing: no model, or no key for it.
        WorkTreeFailed: git fails.
        OutputFailed: `out` can't be written.
    """
    require_writable(out)
    diff = read_diff(Path.cwd(), wish_of(given), rules=build_rules(settings, environ), environ=environ)
    report = report_of(diff)
    for sentence in diff.notices:
        note(f"! {sentence}", err)
    if report.state == "running":
        note(f"Reviewing {report.scope.title}.", err)
        report = asyncio.run(_reviewed(settings, diff, environ, out, err))
    return print_report(report, given.get("output", "text"), given.get("fail_on"), out, err)


def wish_of(given: Mapping[str, Any]) -> ReviewWish:
    """The changes that the flags name, and the focus. Raises ConfigError: they name two, or a word stands
    where a flag is meant."""
    kinds = [kind for kind in get_args(ScopeKind) if kind in given]
    if len(kinds) > 1:
        raise ConfigError("--base, --commit and --uncommitted don't go together: choose one.")
    words = given["words"][1:]
    if words and words[0] in get_args(ScopeKind):
        raise ConfigError(
            f"Did you mean --{' '.join(words)}? {words[0]!r} alone would be the focus of the review."
        )
    focus = " ".join(words)
    if not kinds:
        return ReviewWish(focus=focus)
    (kind,) = kinds
    return ReviewWish(kind, given[kind] if kind != "uncommitted" else "", focus)


async def _reviewed(
    settings: Settings, diff: ReviewDiff, environ: Mapping[str, str], out: TextIO, err: TextIO
) -> ReviewReport:
    choice = build_chooser(environ).choice(settings)
    provider = build_provider(choice.model.api, choice.connection(settings.stall_seconds, searches=False))
    store = build_store(environ)
    review = build_review(
        settings, provider, choice.model, store, environ, diff, lambda event: note_progress(event, err)
    )
    return await run_review(review, out)
