"""What outlives the program: sessions, pending state of users who want it kept, contents for undo."""
