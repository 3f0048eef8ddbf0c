"""Register an address for the owner's events."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.observability.logging import get_logger
from common.primitives.encryption import Encryptor
from common.primitives.ids import new_id, new_secret
from common.primitives.problems import Forbidden
from notifications.webhooks import store
from notifications.webhooks.domain.errors import TooManyWebhookEndpoints
from notifications.webhooks.domain.webhook_events import check_event_types
from notifications.webhooks.domain.webhooks import ENDPOINTS_MAX, WebhookEndpoint, secret_of

log = get_logger(__name__)


async def create_endpoint(
    uow: UnitOfWork,
    caller: Caller,
    encryptor: Encryptor,
    *,
    url: str,
    event_types: Sequence[str],
    description: str,
    now: datetime,
) -> tuple[WebhookEndpoint, str]:
    """Return the new endpoint and its secret, which is shown this one time (contract section 9.5).

    It belongs to the platform if the caller manages the platform's endpoints, else to the caller's vendor. Raises
    Forbidden, UnknownEventTypes and TooManyWebhookEndpoints.
    """
    vendor_id = _owner(caller)
    endpoint_id, secret = new_id(), secret_of(new_secret())
    types = check_event_types(event_types, vendor_id)
    await store.lock_webhook_owner(uow, vendor_id)
    if await store.count_webhook_endpoints(uow, vendor_id) >= ENDPOINTS_MAX:
        raise TooManyWebhookEndpoints(ENDPOINTS_MAX)
    endpoint = WebhookEndpoint(endpoint_id, vendor_id, url, types, description, "enabled", None, now)
    encrypted = encryptor.encrypt(secret, str(endpoint_id))
    await store.insert_webhook_endpoint(uow, endpoint, encrypted, caller.id)
    log.info("webhook endpoint created", endpoint_id=str(endpoint_id), user_id=str(caller.id))
    return endpoint, secret


def _owner(caller: Caller) -> UUID | None:
    if caller.may("webhooks:manage"):
        return None
    if caller.vendor_id is None:
        raise Forbidden
    return caller.vendor_id
