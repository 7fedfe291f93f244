"""The screen of saved sessions: list, search, rename, delete, open, fork."""
