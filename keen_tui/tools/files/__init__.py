"""Files of the workspace: where a path leads, read and changed safely."""
