"""Remove an endpoint."""

from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.observability.logging import get_logger
from common.primitives.problems import NotFound
from notifications.webhooks import store
from notifications.webhooks.use_cases.alerts import clear_endpoint_alert

log = get_logger(__name__)


async def remove_endpoint(uow: UnitOfWork, caller: Caller, endpoint_id: UUID) -> None:
    """Delete the endpoint with its deliveries. Raises NotFound."""
    endpoint = await store.find_webhook_endpoint_for_update(uow, endpoint_id)
    if endpoint is None:
        raise NotFound
    await store.remove_webhook_endpoint(uow, endpoint_id)
    clear_endpoint_alert(uow, endpoint, "the endpoint was removed")
    log.info("webhook endpoint removed", endpoint_id=str(endpoint_id), user_id=str(caller.id))
