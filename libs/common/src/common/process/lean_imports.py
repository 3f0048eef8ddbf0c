"""Imported first by each process: keeps optional imports of libraries out of it.

structlog and httpx import rich wherever it is installed, for consoles that no process has: 5 MiB and 0.2 s of each.
"""

import sys

# The import system raises ModuleNotFoundError for None, which both libraries expect.
sys.modules.setdefault("rich", None)  # type: ignore[arg-type]
