"""Webhooks of the payment gateway: arrival, acknowledgement and processing."""

from typing import Final

from campus_tools.observability.dashboards.panels import WEBHOOK_ROUTE, Dashboard, Panel, quantile

WEBHOOKS: Final = Dashboard(
    "campus-webhooks",
    "Campus: webhooks",
    (
        Panel(
            "Dead webhooks",
            {"waiting": "max(payments_dead_letter_webhooks_waiting)"},
            single=True,
            threshold=1,
            width=6,
        ),
        Panel(
            "Webhooks",
            {"{{arrival}}": "sum by (arrival) (rate(payments_webhooks_accepted_total[5m]))"},
            "reqps",
            width=9,
        ),
        Panel("Invalid signatures", {"rejected": "sum(rate(payments_webhooks_refused_total[5m]))"}, "reqps", width=9),
        Panel(
            "Time to acknowledge",
            {
                "half": quantile(0.5, "gateway_request_seconds", "route", WEBHOOK_ROUTE),
                "95 %": quantile(0.95, "gateway_request_seconds", "route", WEBHOOK_ROUTE),
                "99.9 %": quantile(0.999, "gateway_request_seconds", "route", WEBHOOK_ROUTE),
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
            "Outcomes",
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
)
