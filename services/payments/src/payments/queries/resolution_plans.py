"""The effect of a resolution on the money of an order, before support prepares and finance approves it."""

from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger.posting import Entry
from common.primitives.ids import new_id
from common.primitives.problems import NotFound, ValidationFailed
from payments.domain import escrow, postings
from payments.domain.escrow import Escrow, Parts
from payments.queries.ledger import find_balances
from payments.responses.escrow import ResolutionPlan
from payments.responses.ledger import PlannedEntry

_ESCROW: Final = """
SELECT vendor_id, locked_vendor_minor, locked_commission_minor, locked_delivery_fee_minor, released_vendor_minor,
       released_commission_minor, released_delivery_fee_minor, refunded_minor
FROM escrows WHERE order_id = $1
"""
# The approval creates the refund: its account has no name yet.
_NEW_REFUND: Final = "refund_payable"


async def find_resolution_plan(
    uow: UnitOfWork, order_id: UUID, refund_minor: int, *, with_entries: bool
) -> ResolutionPlan:
    """Plan the refund and then the release of the rest, as the approval publishes them. Amounts in kobo.

    Raises NotFound without an escrow, ValidationFailed (422) for more than the order has.
    """
    row = await uow.fetch_row(_ESCROW, order_id)
    if row is None:
        raise NotFound
    before = Escrow(Parts(*row[1:4]), Parts(*row[4:7]), row["refunded_minor"], is_disputed=True)
    most_minor = before.locked.total_minor + before.released.total_minor
    if refund_minor > most_minor:
        reason = f"at most {most_minor} kobo, what the order still has"
        raise ValidationFailed.of("refundMinor", reason)
    refunded = escrow.refund(before, refund_minor)
    released = escrow.release(refunded.after, refunded.after.locked.total_minor, resolves_dispute=True)
    net = released.parts.minus(refunded.from_released)
    entries: list[PlannedEntry] = []
    if with_entries:
        refund_id, vendor_id = new_id(), row["vendor_id"]
        parts = {"from_locked": refunded.from_locked, "from_released": refunded.from_released}
        lines = list(postings.refund(refund_id, order_id, vendor_id, **parts).entries) if refund_minor else []
        if released.parts.total_minor:
            lines += postings.release(new_id(), order_id, vendor_id, released.parts).entries
        entries = await _planned(uow, lines, f"refund_payable:{refund_id}")
    return ResolutionPlan(
        order_id=order_id,
        buyer_minor=refund_minor,
        vendor_minor=net.vendor_minor,
        commission_minor=net.commission_minor,
        delivery_fee_minor=net.delivery_fee_minor,
        entries=entries,
    )


async def _planned(uow: UnitOfWork, lines: list[Entry], new_account: str) -> list[PlannedEntry]:
    """Return the entries with the balance before each: a later posting starts from the balance that an earlier left."""
    balances = await find_balances(uow, [line.account.name for line in lines])
    planned = []
    for line in lines:
        name = line.account.name
        shown = _NEW_REFUND if name == new_account else name
        planned.append(PlannedEntry(account=shown, amount_minor=line.amount_minor, balance_minor=balances[name]))
        balances[name] += line.amount_minor
    return planned
