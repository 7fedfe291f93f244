"""What a turn leaves behind: recorder, rendering at the provider boundary, pending state."""
