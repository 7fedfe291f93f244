"""What outlives the program: sessions, and the files that their turns changed."""
