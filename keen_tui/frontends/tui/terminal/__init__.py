"""The terminal and the desktop around it, and all use of Textual's private names."""
