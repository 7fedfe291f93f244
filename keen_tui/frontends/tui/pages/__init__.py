"""Screens over the workspace, a folder each where they are larger."""
