"""Keen TUI: a terminal workspace for a coding agent."""

__version__ = "0.1.0"
