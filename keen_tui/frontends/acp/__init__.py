"""The front end of editors: sessions by the Agent Client Protocol, on the standard streams."""
