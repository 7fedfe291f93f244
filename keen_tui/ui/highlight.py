"""Syntax colours, for the screen."""

from __future__ import annotations

from keen_tui.highlighting import LONGEST as LONGEST
from keen_tui.highlighting import Coloured as Coloured
from keen_tui.highlighting import LazyColours as LazyColours
from keen_tui.highlighting import LazyHunkColours as LazyHunkColours
from keen_tui.highlighting import highlight as highlight
from keen_tui.highlighting import safe_code as safe_code
