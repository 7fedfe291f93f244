"""Keeps back new files that would run code later: finds them after a command, until a person decides."""
