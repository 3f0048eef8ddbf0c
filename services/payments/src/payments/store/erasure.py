"""SQL about people who want to be erased: what is under way, and what is taken away. The books are never touched."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork

# The names are the matters as they are told.
_FIND_OPEN_MATTERS: Final = """
WITH touched AS (SELECT id FROM payable_orders WHERE {party} = $1)
SELECT
    EXISTS (
        SELECT FROM touched JOIN escrows ON escrows.order_id = touched.id
        WHERE locked_vendor_minor + locked_commission_minor + locked_delivery_fee_minor > 0
    ) AS {held},
    EXISTS (SELECT FROM touched JOIN refunds ON refunds.order_id = touched.id WHERE refunds.status <> 'settled') AS {refunds},
    EXISTS (
        SELECT FROM touched JOIN quarantined_charges AS charge ON charge.order_id = touched.id
        WHERE charge.status IN ('quarantined', 'prepared')
    ) AS {quarantined},
    EXISTS (SELECT FROM touched JOIN chargebacks ON chargebacks.order_id = touched.id WHERE chargebacks.status = 'opened') AS {chargebacks}
"""
_OF_BUYER: Final = _FIND_OPEN_MATTERS.format(
    party="buyer_id",
    held="escrow_held",
    refunds="unsettled_refunds",
    quarantined="quarantined_charges",
    chargebacks="open_chargebacks",
)
_OF_VENDOR: Final = _FIND_OPEN_MATTERS.format(
    party="vendor_id",
    held="escrow_held_for_sales",
    refunds="unsettled_refunds_of_sales",
    quarantined="quarantined_charges_of_sales",
    chargebacks="open_chargebacks_of_sales",
)
_FORGET_BUYER: Final = """
INSERT INTO buyers (user_id, email, heard_at) VALUES ($1, '', $2)
ON CONFLICT (user_id) DO UPDATE SET email = '', heard_at = excluded.heard_at
"""
_FORGET: Final = (
    "UPDATE payment_intents SET callback_url = NULL, authorization_url = NULL, access_code = NULL "
    "WHERE buyer_id = $1 AND status <> 'pending'",
    # Where a refund went by hand: the account and its owner.
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
    # The reason of an order's refund is what its buyer, or the vendor, wrote.
    "UPDATE refunds SET reason = 'erased', recipient_code = NULL, failure = NULL FROM payable_orders AS placed "
    "WHERE placed.id = refunds.order_id AND placed.buyer_id = $1",
    "UPDATE quarantine_decisions AS decision SET reason = 'erased', rejection = CASE WHEN rejection IS NOT NULL THEN 'erased' END "
    "FROM quarantined_charges AS charge JOIN payable_orders AS placed ON placed.id = charge.order_id "
    "WHERE charge.id = decision.quarantined_charge_id AND placed.buyer_id = $1",
)
# What was written about their sales, by them and by staff. Where a refund went by hand tells of the buyer, and stays until they leave.
_FORGET_VENDOR: Final = (
    "UPDATE refunds SET reason = 'erased' FROM payable_orders AS sold WHERE sold.id = refunds.order_id AND sold.vendor_id = $1",
    "UPDATE refund_decisions AS decision SET reason = 'erased', rejection = CASE WHEN rejection IS NOT NULL THEN 'erased' END "
    "FROM refunds JOIN payable_orders AS sold ON sold.id = refunds.order_id "
    "WHERE refunds.id = decision.refund_id AND sold.vendor_id = $1",
    "UPDATE quarantine_decisions AS decision SET reason = 'erased', rejection = CASE WHEN rejection IS NOT NULL THEN 'erased' END "
    "FROM quarantined_charges AS charge JOIN payable_orders AS sold ON sold.id = charge.order_id "
    "WHERE charge.id = decision.quarantined_charge_id AND sold.vendor_id = $1",
)


async def list_open_matters(uow: UnitOfWork, user_id: UUID, vendor_id: UUID | None) -> list[str]:
    """What is under way of the buyer and of their vendor, in words."""
    rows = [await uow.fetch_row(_OF_BUYER, user_id)]
    if vendor_id is not None:
        rows.append(await uow.fetch_row(_OF_VENDOR, vendor_id))
    return [matter for row in rows if row is not None for matter, is_open in row.items() if is_open]


async def forget_buyer(uow: UnitOfWork, user_id: UUID, now: datetime) -> None:
    """Keeps the id, which the books name, and nothing to reach the person by."""
    await uow.execute(_FORGET_BUYER, user_id, now)
    for statement in _FORGET:
        await uow.execute(statement, user_id)


async def forget_vendor(uow: UnitOfWork, vendor_id: UUID) -> None:
    """No words about a closed vendor's sales are left; amounts, states and who decided stay."""
    for statement in _FORGET_VENDOR:
        await uow.execute(statement, vendor_id)
