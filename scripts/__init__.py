"""Programs for developers: what is made once and then shipped."""
