"""Change, enable or disable an endpoint."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.observability.logging import get_logger
from common.primitives.problems import NotFound
from notifications.webhooks import store
from notifications.webhooks.domain.webhook_events import check_event_types
from notifications.webhooks.domain.webhooks import ENDPOINT, EndpointStatus, WebhookEndpoint
from notifications.webhooks.use_cases.alerts import clear_endpoint_alert

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class EndpointChange:
    """The new values of an endpoint; None keeps a value."""

    url: str | None
    event_types: Sequence[str] | None
    description: str | None
    status: EndpointStatus | None


async def change_endpoint(
    uow: UnitOfWork,
    caller: Caller,
    endpoint_id: UUID,
    change: EndpointChange,
    *,
    now: datetime,
) -> WebhookEndpoint:
    """Return the changed endpoint. Disabling it fails its pending deliveries.

    Raises NotFound and UnknownEventTypes.
    """
    endpoint = await store.find_webhook_endpoint_for_update(uow, endpoint_id)
    if endpoint is None:
        raise NotFound
    types, status = endpoint.event_types, change.status
    if change.event_types is not None:
        types = check_event_types(change.event_types, endpoint.vendor_id)
    changed = replace(
        endpoint,
        url=endpoint.url if change.url is None else change.url,
        event_types=types,
        description=endpoint.description if change.description is None else change.description,
    )
    await store.save_webhook_endpoint(uow, changed)
    if status is None or not ENDPOINT.allows(endpoint.status, status):
        pass
    elif status == "enabled":
        await store.enable_webhook_endpoint(uow, endpoint_id)
        clear_endpoint_alert(uow, endpoint, "the endpoint was enabled")
        changed = replace(changed, status="enabled", disabled_reason=None)
    else:
        await store.disable_webhook_endpoint(uow, endpoint_id, "owner", now)
        changed = replace(changed, status="disabled", disabled_reason="owner")
    log.info("webhook endpoint changed", endpoint_id=str(endpoint_id), user_id=str(caller.id))
    return changed
