"""The context view: what the next request holds, read part by part, and memory edited by hand."""
