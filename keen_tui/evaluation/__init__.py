"""`keen-tui eval`: runs tasks with the user's own model under each memory policy and compares them."""
