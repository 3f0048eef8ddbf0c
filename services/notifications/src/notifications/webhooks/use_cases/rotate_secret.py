"""Replace the signing secret of an endpoint."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.observability.logging import get_logger
from common.primitives.encryption import Encryptor
from common.primitives.ids import new_secret
from common.primitives.problems import Forbidden, NotFound
from notifications.webhooks import store
from notifications.webhooks.domain.webhooks import PREVIOUS_SECRET_LIFETIME, WebhookEndpoint, secret_of

log = get_logger(__name__)


async def rotate_secret(
    uow: UnitOfWork, caller: Caller, endpoint_id: UUID, encryptor: Encryptor, now: datetime
) -> tuple[WebhookEndpoint, str]:
    """Return the endpoint and its new secret. The former one signs as well for 24 hours.

    Raises NotFound, and Forbidden for the platform's staff: a vendor's secret is shown to its owner only.
    """
    endpoint = await store.find_webhook_endpoint_for_update(uow, endpoint_id)
    if endpoint is None:
        raise NotFound
    if endpoint.vendor_id is not None and endpoint.vendor_id != caller.vendor_id:
        raise Forbidden
    secret = secret_of(new_secret())
    encrypted = encryptor.encrypt(secret, str(endpoint_id))
    await store.save_webhook_secret(uow, endpoint_id, encrypted, now + PREVIOUS_SECRET_LIFETIME)
    log.info("webhook secret rotated", endpoint_id=str(endpoint_id), user_id=str(caller.id))
    return endpoint, secret
