"""Clear the alert of a rejected key when the gateway accepts it again."""

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.observability.logging import get_logger
from payments.clients.gateway import GatewayRejected, Gateways, GatewayUnavailable, PaymentGateway
from payments.domain.accounts import HOME_CURRENCY
from payments.domain.errors import MalformedEvent
from payments.domain.gateway_faults import key_alert
from payments.store import open_alerts
from payments.use_cases.alerts import clear_alert

log = get_logger(__name__)


async def recheck_rejected_keys(database: Database, gateways: Gateways) -> int:
    """Query the balance at each gateway with an open alert; returns the number of cleared alerts. No alert, no call."""
    return sum([await _recheck(database, gateway) for gateway in gateways.all()])


async def _recheck(database: Database, gateway: PaymentGateway) -> bool:
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        if not await open_alerts.is_open(uow, key_alert(gateway.name)):
            return False
    try:
        await gateway.balance_minor(HOME_CURRENCY)
    except (GatewayUnavailable, GatewayRejected, MalformedEvent) as error:
        log.warning("gateway key not accepted yet", gateway=gateway.name, error=str(error))
        return False
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        cleared = await open_alerts.remove_alert(uow, key_alert(gateway.name))
        if cleared:
            clear_alert(uow, key_alert(gateway.name), f"{gateway.name} accepts our key.")
    return cleared
