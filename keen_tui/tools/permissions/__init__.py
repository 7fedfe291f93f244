"""Which calls run, ask or are refused."""
