"""What files held before and after a turn changed them."""
