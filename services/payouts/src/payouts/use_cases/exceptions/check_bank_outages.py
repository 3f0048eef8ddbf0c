"""Alert the on-call staff about a bank whose switch is down, in addition to each payout's exception."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.operations import AlertCleared, AlertRaised
from payouts import queries
from payouts.domain.exceptions import RUNBOOK
from payouts.domain.failure_rate import BANK_KEY_PREFIX, SWITCH_FAILURES_OF_ONE_BANK, SWITCH_WINDOW, bank_key
from payouts.store import open_alerts


async def check_bank_outages(uow: UnitOfWork, gateway: str, now: datetime) -> None:
    """Raise SEV-1 for a bank with several recent failures at its switch; clears it when none of them is open."""
    troubled = await queries.list_troubled_banks(uow, now)
    for bank_code, several_lately in sorted(troubled.items()):
        if several_lately and await open_alerts.save_alert_if_new(uow, bank_key(bank_code), now):
            name = await queries.find_bank_name(uow, gateway, bank_code) or "unknown"
            uow.publish(_raised(bank_code, name), source="payouts")
    for key in await queries.list_open_alert_keys(uow, BANK_KEY_PREFIX):
        bank_code = key.removeprefix(BANK_KEY_PREFIX)
        if bank_code not in troubled and await open_alerts.remove_alert(uow, key):
            reason = f"No payout to bank {bank_code} waits for its switch now."
            uow.publish(AlertCleared(alert_id=new_id(), dedup_key=key, reason=reason), source="payouts")


def _raised(bank_code: str, name: str) -> AlertRaised:
    minutes = int(SWITCH_WINDOW.total_seconds() / 60)
    return AlertRaised(
        alert_id=new_id(),
        severity="SEV-1",
        title=f"Bank switch down: {name}",
        detail=f"{SWITCH_FAILURES_OF_ONE_BANK} or more payouts to bank {bank_code} failed by its switch within {minutes} minutes.",
        runbook=RUNBOOK,
        dedup_key=bank_key(bank_code),
        about=bank_code,
    )
