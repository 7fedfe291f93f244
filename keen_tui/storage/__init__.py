"""Data that outlives the program: sessions, opt-in pending state, file contents for undo."""
