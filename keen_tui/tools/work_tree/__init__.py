"""The files of the workspace before and after a command: what the command changed."""
