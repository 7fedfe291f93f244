"""What front ends need beside the turn: models, saved sessions, the history of prompts."""
