"""The contents of files before and after a turn changed them."""
