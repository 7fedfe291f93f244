"""Themes, signs, sizes and style sheets."""
