"""The dashboards of Grafana: what is shown on each, and their JSON."""

from dataclasses import dataclass
from typing import Any, Final

from campus_tools.observability.objectives import WEBHOOK
from campus_tools.observability.rules import ASKED_BY_PEOPLE

SOURCE: Final = {"type": "prometheus", "uid": "campus-prometheus"}
_WIDTH: Final = 24
_HEIGHT: Final = 8


@dataclass(frozen=True, slots=True)
class Panel:
    """One picture: expressions by what their lines are called. `single` shows the present value alone, `threshold` turns it red."""

    title: str
    expressions: dict[str, str]
    unit: str = "short"
    single: bool = False
    threshold: float | None = None
    width: int = 8


@dataclass(frozen=True, slots=True)
class Dashboard:
    """A page of panels, laid out from left to right."""

    uid: str
    title: str
    panels: tuple[Panel, ...]


def _ratio(over: str, narrowed: str, by: str) -> str:
    return f"sum by ({by}) (rate({over}{{{narrowed}}}[5m])) / sum by ({by}) (rate({over}[5m]))"


def _faults(by: str) -> str:
    faults = f'http_request_seconds_count{{status=~"5..",{ASKED_BY_PEOPLE}}}'
    asked = f"http_request_seconds_count{{{ASKED_BY_PEOPLE}}}"
    return f"sum by ({by}) (rate({faults}[5m])) / sum by ({by}) (rate({asked}[5m]))"


def _quantile(quantile: float, name: str, by: str, narrowed: str = "") -> str:
    return f"histogram_quantile({quantile}, sum by ({by}, le) (rate({name}_bucket{narrowed}[5m])))"


def _minor(expression: str) -> str:
    """Kobo as naira."""
    return f"{expression} / 100"


_NAIRA: Final = "currency:₦"
_WEBHOOK: Final = f'{{route="{WEBHOOK}"}}'

DASHBOARDS: Final = (
    Dashboard(
        "campus-overview",
        "Campus: overview",
        (
            Panel(
                "Processes that do not answer",
                {"down": 'sum(up{job="campus"} == bool 0)'},
                single=True,
                threshold=1,
                width=6,
            ),
            Panel(
                "Requests at the edge",
                {"requests": "sum(rate(gateway_requests_total[5m]))"},
                "reqps",
                single=True,
                width=6,
            ),
            Panel(
                "Dead letters",
                {"waiting": "sum(max by (service) (dead_letters_waiting))"},
                single=True,
                threshold=1,
                width=6,
            ),
            Panel(
                "Unexplained",
                {"naira": _minor("max(payments_unexplained_minor)")},
                _NAIRA,
                single=True,
                threshold=1,
                width=6,
            ),
            Panel("Errors of each promise, 1 h", {"{{slo}}": "slo:error_ratio:rate1h"}, "percentunit"),
            Panel("Errors of each promise, 3 days", {"{{slo}}": "slo:error_ratio:rate3d"}, "percentunit"),
            Panel(
                "Answers of each service",
                {"{{service}}": f"sum by (service) (rate(http_request_seconds_count{{{ASKED_BY_PEOPLE}}}[5m]))"},
                "reqps",
            ),
            Panel(
                "Faults of each service",
                {"{{service}}": _faults("service")},
                "percentunit",
            ),
            Panel(
                "Slowest twentieth of answers",
                {"{{service}}": _quantile(0.95, "http_request_seconds", "service", f"{{{ASKED_BY_PEOPLE}}}")},
                "s",
            ),
            Panel("Requests in hand", {"{{process}}": "sum by (process) (http_requests_in_flight)"}),
            Panel(
                "Processor", {"{{process}}": "sum by (process) (rate(process_cpu_seconds_total[5m]))"}, "percentunit"
            ),
            Panel("Memory", {"{{process}}": "sum by (process) (process_resident_memory_bytes)"}, "bytes"),
            Panel(
                "How late event loops wake",
                {"{{process}}": "max by (process) (event_loop_lag_seconds)"},
                "s",
                threshold=0.1,
            ),
            Panel(
                "Database connections in use",
                {
                    "{{process}} {{role}}": 'sum by (process, role) (database_connections{state="in_use"})'
                    ' / sum by (process, role) (database_connections{state="max"})'
                },
                "percentunit",
                threshold=1,
            ),
        ),
    ),
    Dashboard(
        "campus-edge",
        "Campus: edge",
        (
            Panel("Requests by status", {"{{status}}": "sum by (status) (rate(gateway_requests_total[5m]))"}, "reqps"),
            Panel(
                "Busiest routes", {"{{route}}": "topk(10, sum by (route) (rate(gateway_requests_total[5m])))"}, "reqps"
            ),
            Panel(
                "Faults by route",
                {"{{route}}": 'sum by (route) (rate(gateway_requests_total{status=~"5.."}[5m]))'},
                "reqps",
            ),
            Panel(
                "Slowest routes, 95 %",
                {"{{route}}": f"topk(10, {_quantile(0.95, 'gateway_request_seconds', 'route')})"},
                "s",
            ),
            Panel(
                "Requests in hand",
                {
                    "{{instance}}": "gateway_requests_in_flight",
                    "at most {{instance}}": "gateway_requests_in_flight_max",
                },
            ),
            Panel(
                "Refused: too many under way", {"{{whose}}": "sum by (whose) (rate(gateway_shed_total[5m]))"}, "reqps"
            ),
            Panel(
                "Refused by quota", {"tier {{tier}}": "sum by (tier) (rate(gateway_rate_limited_total[5m]))"}, "reqps"
            ),
            Panel(
                "Quota store away",
                {"{{outcome}}": "sum by (outcome) (rate(gateway_quota_store_away_total[5m]))"},
                "reqps",
            ),
            Panel(
                "No answer from behind",
                {"{{upstream}}": "sum by (upstream) (rate(gateway_upstream_failures_total[5m]))"},
                "reqps",
            ),
            Panel("Idempotency keys", {"{{found}}": "sum by (found) (rate(gateway_idempotency_total[5m]))"}, "reqps"),
            Panel("Shared pages", {"{{found}}": "sum by (found) (rate(gateway_page_cache_total[5m]))"}, "reqps"),
        ),
    ),
    Dashboard(
        "campus-money",
        "Campus: money",
        (
            Panel(
                "Held in escrow",
                {"naira": _minor("max(payments_escrow_liability_minor)")},
                _NAIRA,
                single=True,
                width=6,
            ),
            Panel(
                "At the payment gateway",
                {"naira": _minor("max(payouts_gateway_balance_minor)")},
                _NAIRA,
                single=True,
                width=6,
            ),
            Panel(
                "Unexplained",
                {"naira": _minor("max(payments_unexplained_minor)")},
                _NAIRA,
                single=True,
                threshold=1,
                width=6,
            ),
            Panel(
                "Books that were changed",
                {"payments": "max(payments_book_broken)", "payouts": "max(payouts_book_broken)"},
                single=True,
                threshold=1,
                width=6,
            ),
            Panel(
                "Escrow and its cover",
                {
                    "held": _minor("max(payments_escrow_liability_minor)"),
                    "at the gateway": _minor("max(payouts_gateway_balance_minor)"),
                },
                _NAIRA,
                width=12,
            ),
            Panel("Open differences", {"cases": "max(payments_unexplained_cases)"}, threshold=1, width=12),
            Panel(
                "Postings without a link",
                {"payments": "max(payments_book_unsealed)", "payouts": "max(payouts_book_unsealed)"},
            ),
            Panel(
                "Links of the books", {"payments": "max(payments_book_length)", "payouts": "max(payouts_book_length)"}
            ),
            Panel("Late news ignored", {"{{type}}": "sum by (type) (rate(stale_news_total[5m]))"}, "ops"),
        ),
    ),
    Dashboard(
        "campus-webhooks",
        "Campus: webhooks",
        (
            Panel(
                "Given up", {"waiting": "max(payments_dead_letter_webhooks_waiting)"}, single=True, threshold=1, width=6
            ),
            Panel(
                "Webhooks",
                {"{{arrival}}": "sum by (arrival) (rate(payments_webhooks_accepted_total[5m]))"},
                "reqps",
                width=9,
            ),
            Panel("Signature refused", {"refused": "sum(rate(payments_webhooks_refused_total[5m]))"}, "reqps", width=9),
            Panel(
                "Acknowledged after",
                {
                    "half": _quantile(0.5, "gateway_request_seconds", "route", _WEBHOOK),
                    "95 %": _quantile(0.95, "gateway_request_seconds", "route", _WEBHOOK),
                    "99.9 %": _quantile(0.999, "gateway_request_seconds", "route", _WEBHOOK),
                },
                "s",
                threshold=0.5,
                width=12,
            ),
            Panel(
                "Slow or failed",
                {"1 h": 'slo:error_ratio:rate1h{slo="webhook-acknowledgement"}'},
                "percentunit",
                threshold=0.001,
                width=12,
            ),
            Panel(
                "What became of them",
                {"{{event}} {{outcome}}": "sum by (event, outcome) (rate(payments_webhooks_taken_total[5m]))"},
                "ops",
                width=12,
            ),
            Panel(
                "Waiting for the worker",
                {"{{queue}}": 'max by (queue) (rabbitmq_detailed_queue_messages_ready{queue="payments.webhooks"})'},
                width=12,
            ),
        ),
    ),
    Dashboard(
        "campus-payouts",
        "Campus: payouts",
        (
            Panel(
                "Failing", {"share": "max(payout_failure_rate)"}, "percentunit", single=True, threshold=0.05, width=6
            ),
            Panel("Attempts of the window", {"attempts": "max(payout_attempts_in_window)"}, single=True, width=6),
            Panel(
                "Balance at the gateway",
                {"naira": _minor("max(payouts_gateway_balance_minor)")},
                _NAIRA,
                single=True,
                width=6,
            ),
            Panel(
                "Balance told",
                {"ago": "time() - max(payouts_gateway_balance_timestamp_seconds)"},
                "s",
                single=True,
                threshold=3600,
                width=6,
            ),
            Panel("Share that fails", {"share": "max(payout_failure_rate)"}, "percentunit", threshold=0.05, width=12),
            Panel(
                "Transfers in the queue",
                {"{{queue}}": 'max by (queue) (rabbitmq_detailed_queue_messages_ready{queue=~"payouts\\\\..*"})'},
                width=12,
            ),
            Panel(
                "Answers of payouts",
                {
                    "{{route}} {{status}}": "sum by (route, status)"
                    f' (rate(http_request_seconds_count{{service="payouts",{ASKED_BY_PEOPLE}}}[5m]))'
                },
                "reqps",
                width=24,
            ),
        ),
    ),
    Dashboard(
        "campus-queues",
        "Campus: queues",
        (
            Panel(
                "Oldest message of each outbox",
                {"{{service}}": "max by (service) (outbox_age_seconds)"},
                "s",
                threshold=60,
            ),
            Panel("Messages in each outbox", {"{{service}}": "max by (service) (outbox_waiting)"}),
            Panel(
                "Outboxes to the broker",
                {
                    "{{service}}": "sum by (service) (rate(outbox_published_total[5m]))",
                    "{{service}} refused": "sum by (service) (rate(outbox_refused_total[5m]))",
                },
                "ops",
            ),
            Panel("Waiting in each queue", {"{{queue}}": "max by (queue) (rabbitmq_detailed_queue_messages_ready)"}),
            Panel("In hand of each queue", {"{{queue}}": "max by (queue) (rabbitmq_detailed_queue_messages_unacked)"}),
            Panel("Consumers of each queue", {"{{queue}}": "max by (queue) (rabbitmq_detailed_queue_consumers)"}),
            Panel(
                "Handled",
                {"{{queue}} {{outcome}}": "sum by (queue, outcome) (rate(messages_handled_total[5m]))"},
                "ops",
            ),
            Panel("Time to handle, 95 %", {"{{queue}}": _quantile(0.95, "message_handling_seconds", "queue")}, "s"),
            Panel(
                "From said to done, 95 %",
                {"{{queue}}": _quantile(0.95, "message_lag_seconds", "queue")},
                "s",
                threshold=5,
            ),
            Panel("Heard before", {"{{consumer}}": "sum by (consumer) (rate(inbox_duplicates_total[5m]))"}, "ops"),
            Panel("Messages in hand", {"{{process}}": "max by (process) (messages_under_way)"}),
            Panel("Given up", {"{{queue}}": "sum by (queue) (increase(dead_letters_total[1h]))"}),
            Panel("Dead letters waiting", {"{{service}}": "max by (service) (dead_letters_waiting)"}, threshold=1),
            Panel(
                "Erasures that wait for a word",
                {"{{awaits}}": "max by (awaits) (identity_erasure_open_seconds)"},
                "s",
                threshold=3600,
            ),
        ),
    ),
)


def dashboard_json(dashboard: Dashboard) -> dict[str, Any]:
    """The dashboard as Grafana reads it from a file."""
    across = down = 0
    panels = []
    for number, panel in enumerate(dashboard.panels, start=1):
        if across + panel.width > _WIDTH:
            across, down = 0, down + _HEIGHT
        place = {"x": across, "y": down, "w": panel.width, "h": _HEIGHT}
        panels.append(_panel_json(panel, number, place))
        across += panel.width
    return {
        "uid": dashboard.uid,
        "title": dashboard.title,
        "tags": ["campus"],
        "timezone": "utc",
        "editable": False,
        "refresh": "30s",
        "schemaVersion": 39,
        "time": {"from": "now-6h", "to": "now"},
        "links": [{"type": "dashboards", "tags": ["campus"], "asDropdown": False, "title": "", "keepTime": True}],
        "panels": panels,
    }


def _panel_json(panel: Panel, number: int, place: dict[str, int]) -> dict[str, Any]:
    steps: list[dict[str, Any]] = [{"color": "green", "value": None}]
    if panel.threshold is not None:
        steps.append({"color": "red", "value": panel.threshold})
    custom: dict[str, Any] = {} if panel.single else {"thresholdsStyle": {"mode": "line" if len(steps) > 1 else "off"}}
    return {
        "id": number,
        "title": panel.title,
        "type": "stat" if panel.single else "timeseries",
        "datasource": SOURCE,
        "gridPos": place,
        "fieldConfig": {
            "defaults": {
                "unit": panel.unit,
                "min": 0,
                "thresholds": {"mode": "absolute", "steps": steps},
                "custom": custom,
            },
            "overrides": [],
        },
        "targets": [
            {"refId": chr(ord("A") + place_in), "datasource": SOURCE, "expr": expression, "legendFormat": legend}
            for place_in, (legend, expression) in enumerate(panel.expressions.items())
        ],
    }
