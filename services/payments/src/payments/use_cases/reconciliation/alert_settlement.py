"""Alert finance that the gateway settles to the bank, which reduces the balance for payouts."""

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.operations import AlertRaised
from payments.domain.settlements import Settlement


def alert_settlement(uow: UnitOfWork, settlement: Settlement) -> None:
    """Settlements join into one alert until it is closed."""
    uow.publish(
        AlertRaised(
            alert_id=new_id(),
            severity="SEV-2",
            title="The gateway settles our balance to the bank",
            detail=f"Settlement {settlement.id} moved {settlement.amount_minor} {settlement.currency}, smallest unit, from the gateway's "
            "balance to our bank account. Payouts and refunds are paid from that balance. Turn automatic settlement off at the gateway.",
            runbook="gateway-settlement",
            dedup_key="gateway-settlement",
        ),
        source="payments",
    )
