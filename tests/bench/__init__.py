"""The benchmarks. With BENCH_PROGRAM=FOLDER they measure the keen_tui of another checkout."""

from __future__ import annotations

import importlib
import os
import sys

if other := os.environ.get("BENCH_PROGRAM"):
    sys.path.insert(0, other)
    importlib.import_module("keen_tui")
    sys.path.remove(other)
