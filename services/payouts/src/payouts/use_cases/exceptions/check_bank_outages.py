"""Alert the on-call staff about a bank whose switch is down, in addition to each payout's exception."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from payouts.domain.failure_rate import BANK_KEY_PREFIX, bank_key
from payouts.queries.banks import find_bank_name
from payouts.queries.observations import list_open_alert_keys, list_troubled_banks
from payouts.store import open_alerts
from payouts.use_cases.alerts import alert_bank_outage, clear_bank_outage


async def check_bank_outages(uow: UnitOfWork, gateway: str, now: datetime) -> None:
    """Raise SEV-1 for a bank with several recent failures at its switch; clears it when none of them is open."""
    troubled = await list_troubled_banks(uow, now)
    for bank_code, several_lately in sorted(troubled.items()):
        if several_lately and await open_alerts.save_alert_if_new(uow, bank_key(bank_code), now):
            name = await find_bank_name(uow, gateway, bank_code) or "unknown"
            alert_bank_outage(uow, bank_code, name)
    for key in await list_open_alert_keys(uow, BANK_KEY_PREFIX):
        bank_code = key.removeprefix(BANK_KEY_PREFIX)
        if bank_code not in troubled and await open_alerts.remove_alert(uow, key):
            clear_bank_outage(uow, bank_code)
