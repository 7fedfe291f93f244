"""Commands that would outlive the program: a watcher kills them, or else the next start finds them."""
