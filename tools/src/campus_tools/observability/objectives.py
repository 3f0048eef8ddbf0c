"""Service level objectives, their error ratios over six windows, and the burn-rate alerts of the 30-day error budget.

An alert needs a fast burn over a long and a short window, so that an incident that is over raises no alert.

"""

from dataclasses import dataclass
from typing import Any, Final

from campus_tools.observability.rules import Alert, Severity

WINDOWS: Final = ("5m", "30m", "1h", "6h", "3d")
# Long window, short window, burn rate, severity: 2 % of the budget in an hour, 5 % in six, 10 % in three days.
BURNS: Final[tuple[tuple[str, str, float, Severity], ...]] = (
    ("1h", "5m", 14.4, "SEV-1"),
    ("6h", "30m", 6, "SEV-2"),
    ("3d", "6h", 1, "SEV-3"),
)
# With fewer events an hour, a single failure burns a large share of the budget; other alerts cover a quiet system.
EVENTS_MIN: Final = 20
# The webhooks of both payment gateways.
WEBHOOKS: Final = ("POST /functions/v1/gateway-webhook", "POST /api/webhooks/flutterwave")
WEBHOOK_ROUTES: Final = "|".join(WEBHOOKS)
# Queues from the placed order to the credited wallet, without those that wait for an outside provider.
JOURNEY: Final = r"orders\\.payments|payments\\.orders|payments\\.webhooks|payouts\\.payments"


@dataclass(frozen=True, slots=True)
class Objective:
    """An objective over 30 days: the share `target` of events is good. `errors` and `events` are expressions with WINDOW as range."""

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
        "99.9 % of the requests are answered without a server error (5xx)",
        'sum(rate(gateway_requests_total{status=~"5.."}[WINDOW])) or vector(0)',
        "sum(rate(gateway_requests_total[WINDOW]))",
    ),
    Objective(
        "webhook-acknowledgement",
        0.999,
        "99.9 % of the payment gateways' webhooks are acknowledged within 500 ms (specification: Webhooks 3)",
        f'sum(rate(gateway_request_seconds_count{{route=~"{WEBHOOK_ROUTES}"}}[WINDOW]))'
        f' - sum(rate(gateway_request_seconds_bucket{{route=~"{WEBHOOK_ROUTES}",le="0.5"}}[WINDOW]))'
        f' + (sum(rate(gateway_requests_total{{route=~"{WEBHOOK_ROUTES}",status=~"5.."}}[WINDOW])) or vector(0))',
        f'sum(rate(gateway_request_seconds_count{{route=~"{WEBHOOK_ROUTES}"}}[WINDOW]))',
    ),
    Objective(
        "order-journey-lag",
        0.99,
        "99 % of the steps between the services of an order take effect within 5 s of their event",
        f'sum(rate(message_lag_seconds_count{{queue=~"{JOURNEY}"}}[WINDOW]))'
        f' - sum(rate(message_lag_seconds_bucket{{queue=~"{JOURNEY}",le="5.0"}}[WINDOW]))',
        f'sum(rate(message_lag_seconds_count{{queue=~"{JOURNEY}"}}[WINDOW]))',
    ),
)


def recordings() -> list[dict[str, Any]]:
    """Return recording rules: the error ratio of each window and the events of the last hour."""
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
    """Return three alerts for each objective, by burn rate."""
    return [
        Alert(
            objective.name,
            severity,
            f'slo:error_ratio:rate{long}{{slo="{objective.name}"}} > {factor:g} * {objective.budget:g}'
            f' and slo:error_ratio:rate{short}{{slo="{objective.name}"}} > {factor:g} * {objective.budget:g}'
            f' and slo:events:last1h{{slo="{objective.name}"}} >= {EVENTS_MIN}',
            "2m",
            f"SLO at risk: {objective.statement}. The 30-day error budget burns {factor:g} times too fast.",
        )
        for objective in OBJECTIVES
        for long, short, factor, severity in BURNS
    ]
