"""What every API needs of HTTP and JSON: requests as bytes, server-sent events, errors, stop reasons."""
