"""The memory of turns: conversation, rendering, policies, pending state."""
