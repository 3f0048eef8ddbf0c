"""`python -m api_gateway api | migrate`.

`migrate` migrates the database `campus_api_gateway`. `api` serves the public `PORT`, and `/metrics` and health on
`METRICS_PORT`, which must not be reachable from outside.
"""

import sys

import common.process.lean_imports  # noqa: F401
from common.migrations.runner import migrate_by_command

if not migrate_by_command("api_gateway"):
    import uvloop

    from api_gateway.app import run_edge
    from common.process.service import EXIT_UNKNOWN_COMMAND

    if sys.argv[1:] == ["api"]:
        uvloop.run(run_edge())
    else:
        sys.stderr.write("python -m api_gateway: expected one of api, migrate\n")
        raise SystemExit(EXIT_UNKNOWN_COMMAND)
