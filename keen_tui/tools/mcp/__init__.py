"""MCP servers: connections to them, and their tools as tools of the model."""
