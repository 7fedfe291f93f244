"""One renderer for each display kind."""
