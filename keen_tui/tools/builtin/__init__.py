"""The tools that the model has, one a file."""
