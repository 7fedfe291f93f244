"""Shared by the front ends for a person: the ports of a session, the actions and commands."""
