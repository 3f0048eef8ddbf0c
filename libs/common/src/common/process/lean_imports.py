"""Imported first by each process: keeps optional imports of libraries out of it, and the garbage collector.

structlog and httpx import rich and pygments wherever they are installed, for consoles that no process has, and uvicorn
watchfiles, for its own reloading: 6 MiB and 0.2 s of each process. Imports make no garbage: the collector takes a
fifth of their CPU. It starts with the server or the command.
"""

import gc
import sys

gc.disable()

# The import system raises ModuleNotFoundError for None, which these libraries expect.
for name in ("rich", "pygments", "watchfiles"):
    sys.modules.setdefault(name, None)  # type: ignore[arg-type]
