"""The agent: session, turn loop, settling of turns, approvals."""
