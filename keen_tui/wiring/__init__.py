"""The one place that builds real objects from settings."""
