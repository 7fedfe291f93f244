"""What is chosen by a word, in the settings and on the command line."""

from __future__ import annotations

from typing import Literal

Mode = Literal["ask", "auto-edit", "plan", "auto"]
"""Permission mode: what runs without asking."""

Scope = Literal["once", "session", "workspace"]
"""How far a yes goes: this call, calls of this kind in this session, or these commands here for good."""

Network = Literal["ask", "off", "on"]
"""What becomes of hosts that sandboxed commands want to reach and no rule is about."""

PolicyName = Literal["summary", "in-band", "full-trace"]
"""Memory policy: how much of a finished turn later turns get (docs/turn.md)."""

Api = Literal["openai-chat", "openai-responses", "anthropic"]
"""The wire protocol of a model server."""

Notify = Literal["off", "bell", "desktop"]
"""How a user who looks elsewhere is told that a turn has ended or asks."""

Titles = Literal["off", "remote", "always"]
"""Which models are asked for the title of a session: none, those on other machines, all."""

Output = Literal["text", "json", "stream-json"]
"""What a turn without a screen prints."""

ExportFormat = Literal["markdown", "json", "html"]
"""What a session is exported as."""

GUARD_SECONDS = 0.3
"""For so long what is typed is no answer to a question that has just appeared: it was meant for something
else."""
