"""Git in the sandbox of commands (docs/decisions/012-sandbox.md), and Keen's own work trees."""
