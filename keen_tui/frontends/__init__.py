"""What a person or a program uses Keen by: the screen, lines in a terminal, no terminal at all."""
