"""The state of the screen as a value, and the pure functions that change it from event to event."""
