"""Reviews of changes: turns that only read, in sessions of their own."""
