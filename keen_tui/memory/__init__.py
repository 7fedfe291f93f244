"""The memory of turns: recorder, conversation, rendering, policies, pending state."""
