"""Pages on the web: fetched from checked addresses, within limits, as text."""
