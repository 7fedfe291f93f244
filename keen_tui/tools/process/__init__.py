"""Commands as processes: starts, watches and ends them, and limits their output."""
