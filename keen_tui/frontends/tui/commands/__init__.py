"""The commands of the screen: each opens a page or asks, and acts on the result."""
