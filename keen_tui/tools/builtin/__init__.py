"""The model's tools, one per file."""
