"""Everyday commands of git, run by themselves where they may write the repository (decision 012)."""
