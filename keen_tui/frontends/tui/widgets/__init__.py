"""The panes of the workspace, one a file."""
