"""Syntax colours, for the screen."""

from __future__ import annotations

from keen_tui.highlighting import LONGEST as LONGEST
from keen_tui.highlighting import Coloured as Coloured
from keen_tui.highlighting import highlight as highlight
from keen_tui.highlighting import highlight_hunk as highlight_hunk
from keen_tui.highlighting import safe_code as safe_code
