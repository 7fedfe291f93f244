"""The parts of the workspace, which act on its widgets."""
