"""A saved session written to a file that others read."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from keen_tui.agent.services.session_loading import title_of
from keen_tui.domain.choices import ExportFormat
from keen_tui.domain.errors import StorageFailed
from keen_tui.storage.sessions import SessionStore

_SUFFIXES: Final = {"markdown": ".md", "json": ".json", "html": ".html"}


def export_session(
    store: SessionStore, session: Path, format: ExportFormat, folder: Path, path: str = ""
) -> Path:
    """Write a saved session to a new file; "" names one in the folder. Blocks.

    Raises:
        StorageFailed: it can't be read, the file is there already, or it can't be written.
    """
    from keen_tui.export import export_text  # noqa: PLC0415 - only when one exports
    from keen_tui.export.source import ExportSource  # noqa: PLC0415 - likewise

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
    file = Path(path or f"keen-{session.stem}{_SUFFIXES[format]}")
    text = export_text(format, source)
    try:
        file = folder / file.expanduser()
        with file.open("x", encoding="utf-8", errors="replace") as opened:
            opened.write(text)
    except FileExistsError as error:
        raise StorageFailed(f"{file} already exists: choose another name.") from error
    except OSError as error:
        raise StorageFailed(f"{file} can't be written: {error.strerror}.") from error
    except (RuntimeError, ValueError) as error:  # a home that nobody has, a NUL
        raise StorageFailed(f"{file} can't be the name of a file: {error}.") from error
    return file
