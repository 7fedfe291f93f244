"""What a command may reach, and the ways to hold it to that (docs/decisions/012-sandbox.md)."""
