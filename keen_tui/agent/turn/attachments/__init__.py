"""The attachments of a message: images, skills and resources of MCP servers that it names."""
