"""Imported first by each process: keeps optional imports of libraries out of it.

structlog and httpx import rich and pygments wherever they are installed, for consoles that no process has, and uvicorn
watchfiles, for its own reloading: 6 MiB and 0.2 s of each process.
"""

import sys

# The import system raises ModuleNotFoundError for None, which these libraries expect.
for name in ("rich", "pygments", "watchfiles"):
    sys.modules.setdefault(name, None)  # type: ignore[arg-type]
