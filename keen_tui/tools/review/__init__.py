"""The changes under review: finds them, reads them from git, and builds the diff for the model."""
