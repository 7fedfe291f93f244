"""Commands that would outlive the program: a watcher kills them, else the next start finds them."""
