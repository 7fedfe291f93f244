"""Keen's MCP client in the protocol's own conformance suite."""
