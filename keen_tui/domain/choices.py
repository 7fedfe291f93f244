"""Choices that are made by name, in the settings and on the command line."""

from __future__ import annotations

from typing import Final, Literal

Mode = Literal["ask", "auto-edit", "plan", "auto"]
"""Permission mode: what runs without asking."""

STRICTEST_FIRST: Final[tuple[Mode, ...]] = ("plan", "ask", "auto-edit", "auto")
"""The modes in the order of what they allow."""

Scope = Literal["once", "session", "workspace"]
"""How far a yes reaches: this call, calls of this kind in this session, or these commands here
permanently."""

Network = Literal["ask", "off", "on"]
"""What happens when a sandboxed command wants to reach a host that no rule covers."""

PolicyName = Literal["summary", "in-band", "full-trace"]
"""Memory policy: how much of a finished turn later turns get (docs/turn.md)."""

Api = Literal["openai-chat", "openai-responses", "anthropic"]
"""The wire protocol of a model server."""

Notify = Literal["off", "bell", "desktop"]
"""How Keen tells a user who looks elsewhere that a turn has ended or has a question."""

Titles = Literal["off", "remote", "always"]
"""Which models are asked for the title of a session: none, those on other machines, all."""

Output = Literal["text", "json", "stream-json"]
"""The output format of a turn without a screen."""

ReviewOutput = Literal["text", "json", "github", "gitlab"]
"""The output format of a review without a screen."""

Priority = Literal["P0", "P1", "P2", "P3"]
"""How urgent a finding is: P0 has to be fixed at once, P3 would be nice to have."""

PRIORITIES: Final[tuple[Priority, ...]] = ("P0", "P1", "P2", "P3")
"""The most urgent first."""

ExportFormat = Literal["markdown", "json", "html"]
"""The format of an exported session."""

GUARD_SECONDS = 0.3
"""Keys typed within this time after a question has appeared don't answer it: they were meant for something
else."""

MOST_TURNS = 50
"""The turns of a run whose user set no limit of turns."""
