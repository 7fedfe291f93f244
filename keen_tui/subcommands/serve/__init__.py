"""`keen-tui serve`: the screen in a browser, with a program of its own for each client."""
