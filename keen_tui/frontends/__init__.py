"""The ways to use Keen: the screen, lines in a terminal, without a terminal, from an editor."""
