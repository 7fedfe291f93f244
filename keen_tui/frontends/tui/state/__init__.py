"""What the screen shows, as a value, and the pure functions that move it from event to event."""
