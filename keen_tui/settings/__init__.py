"""Settings, keys, and what a project brings: read, checked, explained and written."""
