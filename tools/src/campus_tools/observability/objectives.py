"""The service level objectives, their error ratios over six windows, and the alerts of how fast the budget of 30 days burns.

A page needs a fast burn over a long window that still goes on in a short one: what is over wakes nobody, what lasts does soon.
"""

from dataclasses import dataclass
from typing import Any, Final

from campus_tools.observability.rules import Alert, Severity

WINDOWS: Final = ("5m", "30m", "1h", "6h", "3d")
# Long window, short window, times the even speed of 30 days, severity: 2 % of the budget in an hour, 5 % in six, 10 % in three days.
BURNS: Final[tuple[tuple[str, str, float, Severity], ...]] = (
    ("1h", "5m", 14.4, "SEV-1"),
    ("6h", "30m", 6, "SEV-2"),
    ("3d", "6h", 1, "SEV-3"),
)
# Below so many events an hour one failure is a large part: the other alerts watch a quiet system.
EVENTS_MIN: Final = 20
WEBHOOK: Final = "POST /functions/v1/gateway-webhook"
# From the placed order to the money in the vendor's wallet. Work that waits for a company outside is not among it.
JOURNEY: Final = r"orders\\.payments|payments\\.orders|payments\\.webhooks|payouts\\.payments"


@dataclass(frozen=True, slots=True)
class Objective:
    """`target` of the events are good, over 30 days. `errors` and `events` are expressions with WINDOW in their ranges."""

    name: str
    target: float
    statement: str
    errors: str
    events: str

    @property
    def budget(self) -> float:
        return round(1 - self.target, 6)


OBJECTIVES: Final = (
    Objective(
        "edge-availability",
        0.999,
        "99.9 % of the requests are answered without a fault of ours (no 5xx)",
        'sum(rate(gateway_requests_total{status=~"5.."}[WINDOW])) or vector(0)',
        "sum(rate(gateway_requests_total[WINDOW]))",
    ),
    Objective(
        "webhook-acknowledgement",
        0.999,
        "99.9 % of the payment gateway's webhooks are acknowledged within 500 ms (specification: Webhooks 3)",
        f'sum(rate(gateway_request_seconds_count{{route="{WEBHOOK}"}}[WINDOW]))'
        f' - sum(rate(gateway_request_seconds_bucket{{route="{WEBHOOK}",le="0.5"}}[WINDOW]))'
        f' + (sum(rate(gateway_requests_total{{route="{WEBHOOK}",status=~"5.."}}[WINDOW])) or vector(0))',
        f'sum(rate(gateway_request_seconds_count{{route="{WEBHOOK}"}}[WINDOW]))',
    ),
    Objective(
        "order-journey-lag",
        0.99,
        "99 % of the steps between the services of an order take effect within 5 s of being said",
        f'sum(rate(message_lag_seconds_count{{queue=~"{JOURNEY}"}}[WINDOW]))'
        f' - sum(rate(message_lag_seconds_bucket{{queue=~"{JOURNEY}",le="5.0"}}[WINDOW]))',
        f'sum(rate(message_lag_seconds_count{{queue=~"{JOURNEY}"}}[WINDOW]))',
    ),
)


def recordings() -> list[dict[str, Any]]:
    """The ratio of errors over each window, and how many events the last hour had."""
    rules = []
    for objective in OBJECTIVES:
        labels = {"slo": objective.name}
        for window in WINDOWS:
            errors, events = (part.replace("WINDOW", window) for part in (objective.errors, objective.events))
            expression = f"clamp_max(({errors}) / ({events}), 1)"
            rules.append({"record": f"slo:error_ratio:rate{window}", "expr": expression, "labels": labels})
        events = objective.events.replace("WINDOW", "1h")
        rules.append({"record": "slo:events:last1h", "expr": f"3600 * {events}", "labels": labels})
    return rules


def burn_alerts() -> list[Alert]:
    """Three alerts for each objective, by how soon its budget is gone."""
    return [
        Alert(
            objective.name,
            severity,
            f'slo:error_ratio:rate{long}{{slo="{objective.name}"}} > {factor:g} * {objective.budget:g}'
            f' and slo:error_ratio:rate{short}{{slo="{objective.name}"}} > {factor:g} * {objective.budget:g}'
            f' and slo:events:last1h{{slo="{objective.name}"}} >= {EVENTS_MIN}',
            "2m",
            f"Promised: {objective.statement}. The budget of 30 days burns {factor:g} times too fast.",
        )
        for objective in OBJECTIVES
        for long, short, factor, severity in BURNS
    ]
