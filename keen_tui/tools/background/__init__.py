"""Commands that run on after their call."""
