"""The limits of commands, and the sandboxes that enforce them (docs/decisions/012-sandbox.md)."""
