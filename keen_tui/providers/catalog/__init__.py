"""Which models there are, who serves them and what they cost."""
