"""The settings screen: what holds, where it comes from, and the change of one."""
