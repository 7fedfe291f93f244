"""The operating system: what the program asks of it."""
