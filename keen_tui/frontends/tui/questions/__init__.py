"""Questions on the screen: approvals, questions of the model, confirmations."""
