"""Judges what a bash command would do, as far as its text says."""
