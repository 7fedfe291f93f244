"""The network of sandboxed commands, host by host: a proxy of ours is the only way out."""
