"""Sub-agents: each does the work of one call in a session of its own."""
