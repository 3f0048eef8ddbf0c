"""Health of the services, their queues and outboxes."""

import asyncio

from starlette.responses import Response

from console.api import ApiProblem, Json
from console.families import Screens
from console.pages.oncall.alerts import ALERTS, SEVERITIES
from console.pages.oncall.dead_letters import DEAD_LETTER_READERS, SERVICES, count_dead_letters
from console.parts import nothing
from console.visit import Visit

SCREENS = Screens()


@SCREENS.page("/system-health", title="Health of the system", any_of=("alerts:read",), menu="System health")
async def health_page(visit: Visit) -> Response:
    """Services as the gateway reaches them, open alerts, queues, outboxes, and messages that wait for a replay."""
    health, alerts, dead_letters, outboxes = await asyncio.gather(
        _health(visit),
        visit.api.page("/api/alerts", status="open", sort="severity", order="desc", limit=100),
        count_dead_letters(visit) if visit.may(*DEAD_LETTER_READERS) else nothing(),
        asyncio.gather(*(_queues_of(visit, service) for service in SERVICES)),
    )
    by_severity = [(one, sum(alert["severity"] == one for alert in alerts.items)) for one in SEVERITIES]
    # Lag and pools are measured by the monitoring, which raises alerts about them.
    of_machines = [alert for alert in alerts.items if alert["source"] not in SERVICES]
    return visit.render(
        "oncall/health.html",
        health=health,
        by_severity=by_severity,
        dead_letters=dead_letters,
        outboxes=outboxes,
        queues=[queue for one in outboxes for queue in one["queues"] or ()],
        of_machines=of_machines,
        alert_columns=ALERTS.columns[:5],
    )


async def _queues_of(visit: Visit, service: str) -> Json:
    """Return the queues and the outbox of a service; without numbers while the service does not respond."""
    try:
        found: Json = await visit.api.get(f"/api/queues/{service}")
    except ApiProblem as problem:
        if problem.status < 500:
            raise
        return {"service": service, "outbox": None, "queues": None}
    return found


async def _health(visit: Visit) -> Json:
    try:
        found: Json = await visit.api.get("/health/readiness")
    except ApiProblem as problem:
        return {"status": "not ready", "services": {}, "detail": problem.detail}
    return found
