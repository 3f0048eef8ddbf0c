"""Dead-lettered webhooks of the messaging app: list, details, replay and closure."""

from common.auth.caller import THE_SERVICE
from common.standard_endpoints.dead_webhook_routes import DeadWebhooks, dead_webhook_endpoints
from notifications.dependencies import Dependencies
from notifications.support.queries.dead_webhooks import find_dead_webhook, page_of_dead_webhooks
from notifications.support.use_cases.messaging.close_dead_webhook import close_dead_webhook
from notifications.support.use_cases.messaging.replay_webhook import replay_webhook

endpoint = dead_webhook_endpoints(
    DeadWebhooks(
        "notifications",
        # As the service: no caller may read the messages of customers.
        acting_as=lambda _: THE_SERVICE,
        page_of=page_of_dead_webhooks,
        find=find_dead_webhook,
        replay=replay_webhook,
        close=close_dead_webhook,
    ),
    Dependencies,
)
