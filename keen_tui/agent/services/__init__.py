"""Services for front ends, apart from the turn: models, saved sessions, the history of prompts."""
