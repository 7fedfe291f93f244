"""The changes under review: which they are, how git shows them, and what the model gets of them."""
