"""Payout attempts, failures and the balance at the payment gateway."""

from typing import Final

from campus_tools.observability.dashboards.panels import NAIRA, Dashboard, Panel, minor
from campus_tools.observability.rules import USER_REQUESTS

PAYOUTS: Final = Dashboard(
    "campus-payouts",
    "Campus: payouts",
    (
        Panel("Failing", {"share": "max(payout_failure_rate)"}, "percentunit", single=True, threshold=0.05, width=6),
        Panel("Attempts in the window", {"attempts": "max(payout_attempts_in_window)"}, single=True, width=6),
        Panel(
            "Balance at the gateway",
            {"naira": minor("sum(max by (gateway) (payouts_gateway_balance_minor))")},
            NAIRA,
            single=True,
            width=6,
        ),
        Panel(
            "Age of the balance",
            {"ago": "time() - min(max by (gateway) (payouts_gateway_balance_timestamp_seconds))"},
            "s",
            single=True,
            threshold=3600,
            width=6,
        ),
        Panel("Failure rate", {"share": "max(payout_failure_rate)"}, "percentunit", threshold=0.05, width=12),
        Panel(
            "Transfers in the queue",
            {"{{queue}}": 'max by (queue) (rabbitmq_detailed_queue_messages_ready{queue=~"payouts\\\\..*"})'},
            width=12,
        ),
        Panel(
            "Responses of payouts",
            {
                "{{route}} {{status}}": "sum by (route, status)"
                f' (rate(http_request_seconds_count{{service="payouts",{USER_REQUESTS}}}[5m]))'
            },
            "reqps",
            width=24,
        ),
    ),
)
