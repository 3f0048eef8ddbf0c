"""`python -m console api`: the console's process."""

import sys

import uvloop

import common.process.lean_imports  # noqa: F401
from common.process.service import EXIT_UNKNOWN_COMMAND
from console.app import run_console

if __name__ == "__main__":
    if sys.argv[1:] != ["api"]:
        sys.stderr.write("usage: python -m console api\n")
        raise SystemExit(EXIT_UNKNOWN_COMMAND)
    uvloop.run(run_console())
