"""Saved sessions listed and searched, with an index where there are many."""
