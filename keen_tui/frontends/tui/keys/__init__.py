"""Keys: which do what, and that each takes effect once and in order."""
