"""Additions by users and projects: commands, skills, hooks, MCP servers, and the trust in them."""
