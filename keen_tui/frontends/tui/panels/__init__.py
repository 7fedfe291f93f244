"""The panels at the right: Activity, the todo list, TurnMemory."""
