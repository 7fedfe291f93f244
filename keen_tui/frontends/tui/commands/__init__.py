"""What commands of the screen do: each opens a page or asks, and does what comes of it."""
