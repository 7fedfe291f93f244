"""Words that several panes share with what is written outside the screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from keen_tui.choices import Mode
from keen_tui.wording import REASONS as REASONS
from keen_tui.wording import SHORT_REASONS as SHORT_REASONS
from keen_tui.wording import TOOL_NAMES as TOOL_NAMES
from keen_tui.wording import shortly_why as shortly_why
from keen_tui.wording import why_ended as why_ended

MODES: Final[Mapping[Mode, str]] = {
    "ask": "what only reads here runs; changes and other commands ask",
    "auto-edit": "changes here run, and commands in the sandbox; others ask",
    "plan": "only reads; nothing is changed and no command runs",
    "auto": "everything runs without asking",
}
"""What runs unasked in each permission mode."""
