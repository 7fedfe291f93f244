"""Sub-agents: calls that are done in sessions of their own."""
