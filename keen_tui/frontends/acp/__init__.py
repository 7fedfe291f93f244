"""The front end for editors: sessions in the Agent Client Protocol, over standard input and output."""
