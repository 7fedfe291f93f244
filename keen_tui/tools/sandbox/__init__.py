"""What a command may reach, and the sandboxes that enforce it (docs/decisions/012-sandbox.md)."""
