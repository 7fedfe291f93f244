"""A saved session written to a file that others read."""

from __future__ import annotations

import os
from itertools import chain, count
from pathlib import Path
from typing import Final

from keen_tui.agent.services.session_loading import title_of
from keen_tui.domain.choices import ExportFormat
from keen_tui.domain.errors import StorageFailed
from keen_tui.storage.lookup.sessions import SessionStore
from keen_tui.storage.paths import private_opener
from keen_tui.system.folders import make_private

_SUFFIXES: Final = {"markdown": ".md", "json": ".json", "html": ".html"}


def export_session(
    store: SessionStore, session: Path, format: ExportFormat, folder: Path, path: str = ""
) -> Path:
    """Write a saved session to a new file: to `path`, which is relative to the folder, or to one with a name
    of its own in the folder of exports, which only the user can read. Blocks. Returns the file.

    Raises:
        StorageFailed: it can't be read, the file is there already, or it can't be written.
    """
    from keen_tui.export import export_text  # noqa: PLC0415 - only when one exports
    from keen_tui.export.document import ExportSource  # noqa: PLC0415 - likewise

    saved = store.read(session)
    events = [record.event for record in saved.records]
    title = title_of(session, events)
    source = ExportSource(
        title=title,
        session_id=session.stem,
        workspace=saved.header.workspace,
        began=saved.header.began,
        model=saved.header.model,
        events=events,
    )
    text = export_text(format, source)
    file = Path(path)
    try:
        if path:
            file = folder / file.expanduser()
        else:
            make_private(store.exports)
            file = _free(store.exports, f"keen-{session.stem}", _SUFFIXES[format])
        opener = None if path else private_opener
        with open(file, "x", encoding="utf-8", errors="replace", opener=opener) as opened:
            opened.write(text)
    except FileExistsError as error:
        raise StorageFailed(f"{file} already exists: choose another name.") from error
    except OSError as error:
        raise StorageFailed(f"{file} can't be written: {error.strerror}.") from error
    except (RuntimeError, ValueError) as error:  # a home that nobody has, a NUL
        raise StorageFailed(f"{file} can't be the name of a file: {error}.") from error
    return file


def _free(folder: Path, stem: str, suffix: str) -> Path:
    """A file that isn't there yet: `stem.md`, `stem-2.md` …"""
    names = chain([stem], (f"{stem}-{number}" for number in count(2)))
    return next(file for name in names if not os.path.lexists(file := folder / f"{name}{suffix}"))
