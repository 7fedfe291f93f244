"""Programs that try the whole for a long time, run by make targets of their own: no tests."""
