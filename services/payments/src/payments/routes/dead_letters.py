"""Dead-lettered webhooks of the payment gateways: list, details, replay and closure."""

from common.standard_endpoints.dead_webhook_routes import DeadWebhooks, dead_webhook_endpoints
from payments.dependencies import Dependencies
from payments.queries.dead_webhooks import find_dead_webhook, page_of_dead_webhooks
from payments.use_cases.webhooks.close_dead_webhook import close_dead_webhook
from payments.use_cases.webhooks.replay_webhook import replay_webhook

endpoint = dead_webhook_endpoints(
    DeadWebhooks(
        "payments",
        acting_as=lambda caller: caller,
        page_of=page_of_dead_webhooks,
        find=find_dead_webhook,
        replay=replay_webhook,
        close=lambda uow, key, by, reason, _: close_dead_webhook(uow, key, by, reason),
    ),
    Dependencies,
)
