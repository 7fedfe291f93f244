"""Ordinary commands of developers, run in every sandbox (`make sandbox`)."""
