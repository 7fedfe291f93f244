"""Stops every kind of turn at every point at which it waits."""
