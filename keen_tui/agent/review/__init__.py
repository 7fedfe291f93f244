"""Reviews: turns that only read changes, each in a session of its own."""
