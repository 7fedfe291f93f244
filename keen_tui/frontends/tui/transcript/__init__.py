"""The conversation on the screen: drawn from blocks, line by line, only where it is seen."""
