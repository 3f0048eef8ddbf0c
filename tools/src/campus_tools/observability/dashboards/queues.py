"""Outboxes, queues and dead letters."""

from typing import Final

from campus_tools.observability.dashboards.panels import Dashboard, Panel, quantile

QUEUES: Final = Dashboard(
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
            "Events published by each outbox",
            {
                "{{service}}": "sum by (service) (rate(outbox_published_total[5m]))",
                "{{service}} rejected": "sum by (service) (rate(outbox_refused_total[5m]))",
            },
            "ops",
        ),
        Panel("Waiting in each queue", {"{{queue}}": "max by (queue) (rabbitmq_detailed_queue_messages_ready)"}),
        Panel(
            "Unacknowledged in each queue", {"{{queue}}": "max by (queue) (rabbitmq_detailed_queue_messages_unacked)"}
        ),
        Panel("Consumers of each queue", {"{{queue}}": "max by (queue) (rabbitmq_detailed_queue_consumers)"}),
        Panel(
            "Messages processed",
            {"{{queue}} {{outcome}}": "sum by (queue, outcome) (rate(messages_handled_total[5m]))"},
            "ops",
        ),
        Panel("Processing time, 95 %", {"{{queue}}": quantile(0.95, "message_handling_seconds", "queue")}, "s"),
        Panel(
            "From commit to processed, 95 %",
            {"{{queue}}": quantile(0.95, "message_lag_seconds", "queue")},
            "s",
            threshold=5,
        ),
        Panel("Duplicates ignored", {"{{consumer}}": "sum by (consumer) (rate(inbox_duplicates_total[5m]))"}, "ops"),
        Panel("Messages in progress", {"{{process}}": "max by (process) (messages_under_way)"}),
        Panel("Dead letters, 1 h", {"{{queue}}": "sum by (queue) (increase(dead_letters_total[1h]))"}),
        Panel("Dead letters waiting", {"{{service}}": "max by (service) (dead_letters_waiting)"}, threshold=1),
        Panel(
            "Accounts with wrong credentials, 1 h",
            {"{{by}}": "max by (by) (identity_guessed_accounts)"},
            threshold=200,
        ),
        Panel(
            "Requests of codes beyond a budget",
            {"{{budget}}": "sum by (budget) (increase(identity_messages_refused_total[1h]))"},
        ),
        Panel(
            "Oldest open erasure by service",
            {"{{awaits}}": "max by (awaits) (identity_erasure_open_seconds)"},
            "s",
            threshold=3600,
        ),
    ),
)
