"""`python -m console web`: the console's process."""

import sys

import uvloop

import common.process.lean_imports  # noqa: F401
from common.process.service import EXIT_UNKNOWN_COMMAND
from console.server import run_console

if __name__ == "__main__":
    if sys.argv[1:] != ["web"]:
        sys.stderr.write("usage: python -m console web\n")
        raise SystemExit(EXIT_UNKNOWN_COMMAND)
    uvloop.run(run_console())
