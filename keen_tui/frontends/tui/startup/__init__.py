"""The first pictures, and what has to happen before and between them."""
