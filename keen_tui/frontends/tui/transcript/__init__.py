"""The conversation on the screen: blocks drawn as rows, but only where they are visible."""
