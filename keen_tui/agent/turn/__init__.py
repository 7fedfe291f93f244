"""A turn: the loop, its calls, approvals and requests, and how it ends."""
