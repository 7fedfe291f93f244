"""The rules of the user, and the patterns of paths that they are written with."""
