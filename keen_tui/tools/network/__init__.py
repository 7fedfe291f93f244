"""The network of sandboxed commands, host by host: Keen's proxy is the only way out."""
