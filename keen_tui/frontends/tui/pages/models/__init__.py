"""The choice among models: picker, key entry, and what stands there when no model is chosen yet."""
