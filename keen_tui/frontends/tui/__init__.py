"""The full-screen front end. Textual is imported here and nowhere else."""
