"""Markdown as rows, whole and while it streams."""
