"""What a tool is, what a call of it is given, and how its arguments are checked and shown."""
