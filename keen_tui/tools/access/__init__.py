"""The access of calls, as permissions judge it, and the names that mean secrets or settings."""
