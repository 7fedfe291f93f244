"""The parts of HTTP and JSON that every API needs: requests as bytes, server-sent events, errors, stop
reasons."""
