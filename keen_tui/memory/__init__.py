"""What later turns know of a turn: recorder, conversation, rendering, policies, pending state."""
