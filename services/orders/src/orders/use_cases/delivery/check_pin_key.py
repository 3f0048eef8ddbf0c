"""Check that PIN_KEY opens the delivery PINs."""

from common.auth.caller import ServiceItself
from common.database.unit_of_work import Database
from orders.store.pins import find_newest_pin
from orders.use_cases.delivery.issue_delivery_pin import PinIssuer

STARTING = ServiceItself("the check of PIN_KEY")


async def check_pin_key(database: Database, pins: PinIssuer) -> None:
    """Decrypt the newest delivery PIN, if there is one; raises DecryptionFailed.

    A process with a wrong key must not start: it would count every correct PIN as a wrong attempt.
    """
    async with database.unit_of_work(acting_as=STARTING) as uow:
        newest = await find_newest_pin(uow)
    if newest is not None:
        pins.decrypt_stored(*newest)
