"""The model's tools for the workspace: one per file, registered in `toolbox`."""
