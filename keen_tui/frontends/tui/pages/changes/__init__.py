"""The changes of a turn or of the session, file by file, and the question whether to take them back."""
