"""Tools and their calls: what every tool is, what its calls get, and how arguments are checked and shown."""
