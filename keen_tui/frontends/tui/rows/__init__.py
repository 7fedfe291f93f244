"""Lines and lazily built rows, from which everything on the screen is drawn."""
