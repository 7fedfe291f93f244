"""Runs: turns that go on until a check passes."""
