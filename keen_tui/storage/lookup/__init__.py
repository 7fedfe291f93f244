"""Lists of saved sessions and searches in them, with an index if there are many."""
