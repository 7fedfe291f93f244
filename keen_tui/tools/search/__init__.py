"""Finds files by name and by content, as .gitignore allows."""
