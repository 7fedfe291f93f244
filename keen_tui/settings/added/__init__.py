"""What users and projects add to the program: commands, skills, hooks, MCP servers, and the trust in them."""
