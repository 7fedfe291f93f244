"""`keen-tui serve`: the screen in a browser. Each page has a program of its own."""
