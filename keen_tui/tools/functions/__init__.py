"""Functions of the program that runs Keen, as tools of the model."""
