"""Values that all parts exchange: messages, events, models, errors. No I/O."""
