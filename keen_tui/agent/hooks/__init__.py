"""SessionHooks: commands of the user or of a project that run at certain events and may answer."""
