"""The workspace screen: its widgets and parts put together, and what each key does."""
