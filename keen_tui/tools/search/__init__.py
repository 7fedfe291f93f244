"""Files found by name and by content, as .gitignore allows."""
