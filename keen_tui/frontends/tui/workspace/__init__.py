"""Screens that lie over the workspace."""
