"""Runs everyday commands of git separately, so that they may write the repository (decision 012)."""
