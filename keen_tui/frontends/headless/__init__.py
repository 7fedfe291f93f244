"""The front end without a screen: one prompt in; text, JSON or a stream of JSON lines out."""
