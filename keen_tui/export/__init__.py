"""Sessions as files for people and other programs: Markdown, JSON, one self-contained HTML page.

The events of a session are folded into a document (`folding`), which two writers write for people. JSON is
made of the same document and the conversation. No file is touched, and whatever models, tools and users wrote
comes out harmless.
"""

from __future__ import annotations

from keen_tui.domain.choices import ExportFormat
from keen_tui.export.document import ExportSource
from keen_tui.export.folding import fold
from keen_tui.export.json_form import write_json
from keen_tui.export.markdown import write_markdown
from keen_tui.export.page import write_html


def export_text(format: ExportFormat, source: ExportSource) -> str:
    """The session in that format; the text ends with a line end."""
    match format:
        case "markdown":
            return as_markdown(source)
        case "json":
            return as_json(source)
        case "html":
            return as_html(source)


def as_markdown(source: ExportSource) -> str:
    """The session as Markdown."""
    return write_markdown(fold(source))


def as_json(source: ExportSource) -> str:
    """The session as JSON; the module `json_form` tells its shape."""
    return write_json(fold(source), source.events)


def as_html(source: ExportSource) -> str:
    """The session as one HTML page that loads nothing."""
    return write_html(fold(source))
