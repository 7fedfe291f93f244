"""What goes with a message: images and skills that it names."""
