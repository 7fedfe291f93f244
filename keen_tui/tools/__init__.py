"""What the model can do in the workspace: one tool a file, registered in `toolbox`."""
