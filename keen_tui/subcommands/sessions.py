"""What the command line does with saved sessions: list, export, go on with one, add up what they used."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any, TextIO, cast

from keen_tui.agent.services.session_export import export_session
from keen_tui.agent.services.session_manager import fork_session
from keen_tui.domain.choices import ExportFormat
from keen_tui.domain.errors import ConfigError
from keen_tui.domain.reports import SavedSession
from keen_tui.storage.lookup.sessions import SessionStore
from keen_tui.storage.lookup.summaries import glance
from keen_tui.system.work_tree_records import tree_label
from keen_tui.text.sanitize import clean
from keen_tui.wiring.parts import build_store

_FORMATS: Mapping[str, ExportFormat] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".json": "json",
    ".html": "html",
    ".htm": "html",
}


def list_sessions(workspace: Path | None, environ: Mapping[str, str], out: TextIO) -> int:
    """A line a session: id, when, turns, size, title. None lists those of all folders."""
    rows = build_store(environ).list(workspace)
    if not rows:
        print("No sessions yet." if workspace is None else "No sessions in this folder yet.", file=out)
    wide = max((len(_turns(row)) for row in rows), default=0)
    for row in rows:
        print(clean(_line(row, wide, with_folder=workspace is None)), file=out)
    return 0


def usage(days: int, environ: Mapping[str, str], out: TextIO, *, as_json: bool) -> int:
    """Print what all saved sessions used in the last days, including today, by day and model.

    Raises:
        StorageFailed: the sessions can't be read.
    """
    from keen_tui.frontends.headless.usage_table import usage_json, usage_lines  # noqa: PLC0415 - only here
    from keen_tui.storage.lookup.usage_sums import usage_since  # noqa: PLC0415

    first_day = date.today() - timedelta(days=days - 1)
    report = usage_since(first_day, build_store(environ))
    if as_json:
        print(usage_json(report), file=out)
    else:
        for line in usage_lines(report):
            print(clean(line), file=out)
    return 0


def export(
    session_id: str, format: str, file: str, folder: Path, environ: Mapping[str, str], out: TextIO
) -> int:
    """Write a session to a file and say which. The file's suffix may name the format.

    Raises:
        ConfigError: suffix and format disagree. StorageFailed: no such session, or it can't be written.
    """
    by_suffix = _FORMATS.get(Path(file).suffix.lower(), "") if file else ""
    if format and by_suffix and format != by_suffix:
        raise ConfigError(f"--format {format} and the file name {file} disagree.")
    wanted = cast(ExportFormat, format or by_suffix or "markdown")
    store = build_store(environ)
    written = export_session(store, store.path_of(session_id), wanted, folder, file)
    print(clean(str(written)), file=out)
    return 0


def asked_for(given: Mapping[str, Any], store: SessionStore) -> SavedSession | None:
    """The session that the flags name, a copy of it with --fork; None for a new one.

    Raises:
        ConfigError: there is none yet, none of that name, or nothing in it. StorageFailed: it can't be read.
    """
    if "resume" in given:
        session = glance(store.path_of(given["resume"]))
        if session.is_empty:
            raise ConfigError(
                f"Session {session.id} has no readable content, so it can't be continued. "
                f"Its file is {store.path_of(session.id)}."
            )
    elif "go_on" in given:
        newest = store.newest(Path.cwd())
        if newest is None:
            raise ConfigError("There is no session in this folder yet. keen-tui sessions --all lists all.")
        session = newest
    else:
        return None
    return glance(fork_session(store, store.path_of(session.id), Path.cwd())) if "fork" in given else session


def _turns(row: SavedSession) -> str:
    return f"{row.turns} turn{'' if row.turns == 1 else 's'}"


def _line(row: SavedSession, wide: int, *, with_folder: bool) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(row.last_used))
    turns, kilobytes = _turns(row).ljust(wide), f"{row.size / 1000:.0f} kB".rjust(9)
    facts = [row.id, when, turns, kilobytes, clean(row.title) or "(untitled)"]
    facts += ["forked"] if row.forked_from else []
    facts += [tree_label(row.workspace) or str(row.workspace)] if with_folder else []
    facts += [f"! {row.problem}"] if row.problem else ["open elsewhere"] if row.in_use else []
    return "   ".join(facts)
