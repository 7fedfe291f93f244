"""Commands of the command line that need no screen: `keen-tui sessions`, `keen-tui mcp` and others."""
