"""What a bash command would do, as far as that can be told from its text."""
