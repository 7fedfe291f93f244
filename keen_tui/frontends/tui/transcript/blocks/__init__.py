"""The blocks of the transcript as rows."""
