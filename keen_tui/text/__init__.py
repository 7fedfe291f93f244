"""Pure functions on text: made safe, compared, searched, coloured, measured."""
