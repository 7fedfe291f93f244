"""`python -m keen_tui`, and the `keen-tui` command."""

from __future__ import annotations

import gc
import sys


def main() -> int:
    """Run the program; returns its exit code."""
    gc.disable()  # start-up makes many objects and no garbage; the screen turns it on again when it is ready
    from keen_tui.cli import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
