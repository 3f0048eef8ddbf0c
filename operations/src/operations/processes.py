"""Processes of the system, their ports above `PORT_BASE` and their secrets."""

from dataclasses import dataclass, field, replace

from operations.secret_table import secrets_of_process
from operations.services import SERVICES, Service

SANDBOX_PORT = 90
SANDBOX_MAIL_PORT = 91
SANDBOX_SUBMISSION_PORT = 92
SANDBOX_LOAD_BALANCER_PORT = 93
SANDBOX_NAME_SERVER_PORT = 94
GATEWAY_INTERNAL_PORT = 10
CONSOLE_PORT = 40
CONSOLE_INTERNAL_PORT = 41
_API_PORTS = {"api-gateway": 0, "identity": 1, "orders": 2, "payments": 3, "payouts": 4, "notifications": 5}
_WORKER_PORTS = {"identity": 21, "orders": 22, "payments": 23, "payouts": 24, "notifications": 25}

SECRETS_OF_SERVICES: dict[str, tuple[str, ...]] = {
    # The gateway has no secret: it verifies tokens with identity's public keys and signs nothing.
    holder: secrets_of_process(holder)
    for holder in (*(service.name for service in SERVICES), "console", "sandbox")
}
"""Secrets of each holder; `X` includes `X_PREVIOUS`. Shell patterns are allowed.

Keys of purposes are derived. `SEALING_KEY` here is the key that services shared before
(`operations.secrets.keys_of_purposes`).
"""


@dataclass(frozen=True)
class ProcessPlan:
    """One process: `python -m <module>`, with `/health/readiness` on `PORT_BASE` + `health_offset`."""

    name: str
    module: tuple[str, ...]
    port_offset: int
    health_offset: int
    service: str
    """The service whose environment and secrets it receives; `console` and `sandbox` have no database."""
    stop_turn: int = 1
    """The order of stopping: first the gateway, then workers and APIs, last the sandbox."""
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SystemPlan:
    """The services with databases, and processes."""

    services: tuple[Service, ...]
    processes: tuple[ProcessPlan, ...]
    demo_services: tuple[str, ...] = ()
    """Services whose `demo-data` runs when `DEMO_DATA=1`, in this order."""


def joined(plan: SystemPlan) -> SystemPlan:
    """Return the plan with one process for each service, API and worker on one loop, at the address of the API."""
    both = {each.service for each in plan.processes if each.module[-1] == "worker"}
    processes = [
        replace(each, name=each.service, module=(each.module[0], "all")) if each.service in both else each
        for each in plan.processes
        if each.module[-1] != "worker"
    ]
    return replace(plan, processes=tuple(processes))


def _campus_processes() -> tuple[ProcessPlan, ...]:
    gateway = ProcessPlan("api-gateway", ("api_gateway", "api"), 0, GATEWAY_INTERNAL_PORT, "api-gateway", stop_turn=0)
    plans = [ProcessPlan("sandbox", ("sandbox",), SANDBOX_PORT, SANDBOX_PORT, "sandbox", stop_turn=2)]
    for service in SERVICES[1:]:
        api, worker = _API_PORTS[service.name], _WORKER_PORTS[service.name]
        plans.append(ProcessPlan(f"{service.name}-api", (service.import_name, "api"), api, api, service.name))
        plans.append(
            ProcessPlan(f"{service.name}-worker", (service.import_name, "worker"), worker, worker, service.name)
        )
    console = ProcessPlan("console", ("console", "web"), CONSOLE_PORT, CONSOLE_INTERNAL_PORT, "console", stop_turn=0)
    return (gateway, *plans, console)


CAMPUS = SystemPlan(SERVICES, _campus_processes(), demo_services=("identity", "orders", "payouts"))
"""The whole marketplace with its sandbox: API and worker of a service apart, as on Kubernetes."""

ON_ONE_MACHINE = joined(CAMPUS)
"""What `make run` starts without `PROCESSES=split`."""

API_PORTS = {service: offset for service, offset in _API_PORTS.items() if service != "api-gateway"}
