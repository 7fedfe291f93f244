"""Functions of the program that runs Keen, as tools for the model."""
