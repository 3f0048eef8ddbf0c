"""`python -m api_gateway api | migrate`.

`migrate` migrates the database `campus_api_gateway`. `api` serves the public `PORT`, and `/metrics` and health on
`METRICS_PORT`, which must not be reachable from outside.
"""

import sys

import uvloop

import common.process.lean_imports  # noqa: F401
from api_gateway.app import run_edge
from common.migrations.runner import migrate
from common.process.service import EXIT_UNKNOWN_COMMAND


def main() -> None:
    command = sys.argv[1] if len(sys.argv) == 2 else ""
    if command == "migrate":
        migrate("api_gateway")
    elif command == "api":
        uvloop.run(run_edge())
    else:
        sys.stderr.write("python -m api_gateway: expected one of api, migrate\n")
        raise SystemExit(EXIT_UNKNOWN_COMMAND)


if __name__ == "__main__":
    main()
