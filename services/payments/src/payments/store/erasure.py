"""SQL for a user's erasure: open obligations and personal texts. The ledger is never changed."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork

# The names are those of the published event.
_OPEN_OBLIGATIONS: Final = """
WITH touched AS (SELECT id FROM payable_orders WHERE {party} = $1)
SELECT
    EXISTS (
        SELECT FROM touched JOIN escrows ON escrows.order_id = touched.id
        WHERE locked_vendor_minor + locked_commission_minor + locked_delivery_fee_minor > 0
    ) AS {held},
    EXISTS (SELECT FROM touched JOIN refunds ON refunds.order_id = touched.id
        WHERE refunds.status <> 'settled' AND (refunds.kind, refunds.status) <> ('outside', 'failed')) AS {refunds},
    EXISTS (
        SELECT FROM touched JOIN quarantined_charges AS charge ON charge.order_id = touched.id
        WHERE charge.status IN ('quarantined', 'prepared')
    ) AS {quarantined},
    EXISTS (SELECT FROM touched JOIN chargebacks ON chargebacks.order_id = touched.id
        WHERE chargebacks.status = 'opened') AS {chargebacks}
    {others}
"""
_OF_BUYER: Final = _OPEN_OBLIGATIONS.format(
    party="buyer_id",
    held="escrow_held",
    refunds="unsettled_refunds",
    quarantined="quarantined_charges",
    chargebacks="open_chargebacks",
    # Rewards do not block: they cannot be withdrawn.
    others=(
        ", EXISTS (SELECT FROM buyer_balances WHERE user_id = $1 AND refunds_minor + held_minor > 0) "
        "OR EXISTS (SELECT FROM goodwill_refunds WHERE buyer_id = $1 AND status = 'prepared') AS "
        "refunded_balance, EXISTS (SELECT FROM withdrawals WHERE user_id = $1 AND status NOT IN ('paid', 'failed', "
        "'rejected')) AS open_withdrawals"
    ),
)
_OF_VENDOR: Final = _OPEN_OBLIGATIONS.format(
    party="vendor_id",
    held="escrow_held_for_sales",
    refunds="unsettled_refunds_of_sales",
    quarantined="quarantined_charges_of_sales",
    chargebacks="open_chargebacks_of_sales",
    others="",
)
_ERASE_ADDRESS: Final = """
INSERT INTO buyers (user_id, email, heard_at) VALUES ($1, '', $2)
ON CONFLICT (user_id) DO UPDATE SET email = '', heard_at = excluded.heard_at
"""
_ERASE_TEXTS_OF_BUYER: Final = (
    "UPDATE goodwill_refunds SET reason = 'erased', rejection = CASE WHEN rejection IS NOT NULL THEN 'erased' END "
    "WHERE buyer_id = $1",
    "UPDATE payment_intents SET callback_url = NULL, authorization_url = NULL, access_code = NULL "
    "WHERE buyer_id = $1 AND status <> 'pending'",
    # The bank account that received a failed refund, and its owner.
    "UPDATE refund_decisions AS decision SET reason = 'erased', "
    "rejection = CASE WHEN rejection IS NOT NULL THEN 'erased' END, "
    "recipient_code = CASE WHEN action = 'other_destination' THEN '' END, "
    "account_last4 = CASE WHEN action = 'other_destination' THEN '' END, "
    "bank_code = CASE WHEN action = 'other_destination' THEN '' END, "
    "account_name = CASE WHEN action = 'other_destination' THEN '' END, name_at_bank = NULL "
    "FROM refunds JOIN payable_orders AS placed ON placed.id = refunds.order_id "
    "WHERE refunds.id = decision.refund_id AND placed.buyer_id = $1",
    "UPDATE failed_refund_attempts AS attempt SET recipient_code = NULL, failure = NULL "
    "FROM refunds JOIN payable_orders AS placed ON placed.id = refunds.order_id "
    "WHERE refunds.id = attempt.refund_id AND placed.buyer_id = $1",
    # The buyer's own bank accounts.
    "UPDATE withdrawals SET recipient_code = '', account_last4 = '', bank_code = '', account_name = '', "
    "failure = CASE WHEN failure IS NOT NULL THEN 'erased' END WHERE user_id = $1",
    "UPDATE withdrawal_decisions AS decision SET reason = 'erased', rejection = CASE WHEN rejection IS NOT NULL "
    "THEN 'erased' END FROM withdrawals WHERE withdrawals.id = decision.withdrawal_id AND withdrawals.user_id = $1",
    # The buyer or the vendor wrote the reason of an order's refund.
    "UPDATE refunds SET reason = 'erased', recipient_code = NULL, failure = NULL FROM payable_orders AS placed "
    "WHERE placed.id = refunds.order_id AND placed.buyer_id = $1",
    "UPDATE quarantine_decisions AS decision SET reason = 'erased', rejection = CASE WHEN rejection IS NOT NULL "
    "THEN 'erased' END "
    "FROM quarantined_charges AS charge JOIN payable_orders AS placed ON placed.id = charge.order_id "
    "WHERE charge.id = decision.quarantined_charge_id AND placed.buyer_id = $1",
    # An open chargeback blocks the erasure, so its evidence has left.
    "UPDATE chargeback_responses AS response SET message = 'erased' "
    "FROM chargebacks AS chargeback JOIN payable_orders AS placed ON placed.id = chargeback.order_id "
    "WHERE chargeback.id = response.chargeback_id AND response.message IS NOT NULL AND placed.buyer_id = $1",
)
# The texts that the vendor and staff wrote about the vendor's sales. Bank accounts of refunds belong to buyers, and
# stay.
_ERASE_TEXTS_OF_SALES: Final = (
    (
        "UPDATE refunds SET reason = 'erased' FROM payable_orders AS sold WHERE sold.id = refunds.order_id AND "
        "sold.vendor_id = $1"
    ),
    "UPDATE refund_decisions AS decision SET reason = 'erased', rejection = CASE WHEN rejection IS NOT NULL THEN "
    "'erased' END "
    "FROM refunds JOIN payable_orders AS sold ON sold.id = refunds.order_id "
    "WHERE refunds.id = decision.refund_id AND sold.vendor_id = $1",
    "UPDATE quarantine_decisions AS decision SET reason = 'erased', rejection = CASE WHEN rejection IS NOT NULL "
    "THEN 'erased' END "
    "FROM quarantined_charges AS charge JOIN payable_orders AS sold ON sold.id = charge.order_id "
    "WHERE charge.id = decision.quarantined_charge_id AND sold.vendor_id = $1",
    "UPDATE chargeback_responses AS response SET message = 'erased' "
    "FROM chargebacks AS chargeback JOIN payable_orders AS sold ON sold.id = chargeback.order_id "
    "WHERE chargeback.id = response.chargeback_id AND response.message IS NOT NULL AND sold.vendor_id = $1",
)


async def list_open_obligations(uow: UnitOfWork, user_id: UUID, vendor_id: UUID | None) -> list[str]:
    """Return the names of the open obligations of the buyer and of their vendor."""
    rows = [await uow.fetch_row(_OF_BUYER, user_id)]
    if vendor_id is not None:
        rows.append(await uow.fetch_row(_OF_VENDOR, vendor_id))
    return [name for row in rows if row is not None for name, is_open in row.items() if is_open]


async def erase_buyer(uow: UnitOfWork, user_id: UUID, now: datetime) -> None:
    """Keep the id, which the ledger names, and erase every address and text of the buyer."""
    await uow.execute(_ERASE_ADDRESS, user_id, now)
    for statement in _ERASE_TEXTS_OF_BUYER:
        await uow.execute(statement, user_id)


async def erase_vendor(uow: UnitOfWork, vendor_id: UUID) -> None:
    """Erase the texts about a closed vendor's sales; amounts, states and decision makers stay."""
    for statement in _ERASE_TEXTS_OF_SALES:
        await uow.execute(statement, vendor_id)
