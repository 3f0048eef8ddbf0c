"""`python -m api_gateway` with the patience of the tests: started by `gateway_process` in a process of its own."""

import runpy
from dataclasses import replace
from functools import partial

from api_gateway import app
from api_gateway.limits import EdgeLimits
from testkit.fixtures import PATIENT, WAIT_SECONDS_MAX

# The services, the identity provider and the store share a busy machine with the tests, and stay available here.
LIMITS = EdgeLimits(
    connect_seconds_max=WAIT_SECONDS_MAX,
    queue_seconds_max=WAIT_SECONDS_MAX,
    readiness_seconds_max=WAIT_SECONDS_MAX,
    quota_store_seconds_max=WAIT_SECONDS_MAX,
)

if __name__ == "__main__":
    app.SERVICE = replace(app.SERVICE, compose=partial(app.compose, limits=LIMITS), limits=PATIENT)
    runpy.run_module("api_gateway", run_name="__main__", alter_sys=True)
