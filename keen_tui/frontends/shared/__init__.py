"""What every front end for a person shares: the session as it sees it, the actions and commands."""
