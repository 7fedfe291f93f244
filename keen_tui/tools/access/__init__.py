"""What calls touch, as permissions judge it, and which names mean secrets or settings."""
