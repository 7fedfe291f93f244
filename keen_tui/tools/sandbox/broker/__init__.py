"""The broker, which does for a command what Landlock can't allow (docs/decisions/012-sandbox.md)."""
