"""Model servers, each API in one file, all behind `base.Provider`."""
