"""Values that travel between all parts: messages, events, models, errors. No I/O."""
