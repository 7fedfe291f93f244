"""Files of the workspace: resolves paths, and reads and changes files safely."""
