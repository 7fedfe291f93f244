"""What is remembered of a turn: one module for each kind of fact."""
