"""The front end without a screen for a person: a conversation line by line, for screen readers."""
