"""Words that several panes share with what is written outside the screen."""

from __future__ import annotations

from keen_tui.wording import REASONS as REASONS
from keen_tui.wording import SHORT_REASONS as SHORT_REASONS
from keen_tui.wording import TOOL_NAMES as TOOL_NAMES
from keen_tui.wording import shortly_why as shortly_why
from keen_tui.wording import why_ended as why_ended
