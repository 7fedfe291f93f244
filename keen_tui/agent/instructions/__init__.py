"""AGENTS.md and its kind: what the user and the project say about how to work here."""
