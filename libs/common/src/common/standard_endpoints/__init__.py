"""The endpoints that every service has: dead letters, queues, the caller's work and actions, settings, personal
records.
"""

__all__ = [
    "dead_letter_routes",
    "dead_letter_trail",
    "dead_webhook_routes",
    "dead_webhooks",
    "own_actions",
    "pending_work",
    "personal_records",
    "queue_routes",
    "settings_routes",
    "stop_routes",
]
