"""New files that would run code later: found after a command, and kept back until a person has decided."""
