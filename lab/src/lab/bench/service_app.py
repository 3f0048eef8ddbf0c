"""`python -m lab.bench.service_app <service>`: serve the HTTP application of a service without relay, consumers and
timers.
"""

import importlib
import sys

import uvloop

from common.observability import logging
from common.process.runtime import Service, running
from common.process.server import serve
from common.process.service import http_app


async def main() -> None:
    package = sys.argv[1].replace("-", "_")
    service: Service = importlib.import_module(f"{package}.app").SERVICE
    settings = service.settings.from_environment()
    logging.start(f"bench-{service.name}", settings.log_level)
    async with running(service, settings, f"bench-{service.name}") as (runtime, dependencies):
        app = http_app(service, settings, runtime, dependencies)
        await serve(app, settings, [])


if __name__ == "__main__":
    uvloop.run(main())
