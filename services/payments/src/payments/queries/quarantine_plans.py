"""Postings of each outcome of a quarantined charge, for its maker and checker."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger.posting import Posting
from common.primitives.problems import NotFound
from common.web.response_models import Row
from payments.domain import identifiers, postings
from payments.domain.charges import ExpectedPayment
from payments.domain.errors import ChargeCannotBeAccepted
from payments.domain.quarantine import Outcome, evaluate_acceptance
from payments.queries.ledger import find_balances
from payments.responses.decisions import QuarantinePlan
from payments.responses.ledger import PlannedEntry

_UNDECIDED: Final = ("quarantined", "prepared")
_CHARGE: Final = """
SELECT q.reference, q.amount_minor, q.currency, q.status, c.identity,
       o.id AS order_id, o.total_minor, o.status AS order_status, r.settlement,
       EXISTS (SELECT FROM chargebacks b
           WHERE b.charge_id = q.charge_id AND b.status IN ('opened', 'lost')) AS is_disputed
FROM quarantined_charges q JOIN charges c ON c.id = q.charge_id
LEFT JOIN payment_references r ON r.reference = q.reference
LEFT JOIN payment_intents i ON i.id = r.intent_id LEFT JOIN intent_orders named ON named.intent_id = i.id
LEFT JOIN payable_orders o ON o.id = coalesce(named.order_id, i.order_id)
WHERE q.id = $1 ORDER BY named.position
"""
_DISPUTED: Final = "The payer's bank disputes the charge, or has taken it back: it pays no order."


async def plan_outcomes(uow: UnitOfWork, charge_id: UUID) -> list[QuarantinePlan]:
    """Both outcomes with their entries and the balances before them, in kobo, debit positive; none once it is decided.

    The approval evaluates again: an order that another charge pays in the meantime turns an acceptance into a refund.
    Raises NotFound.
    """
    rows = await uow.fetch(_CHARGE, charge_id)
    if not rows:
        raise NotFound
    row = rows[0]
    if row["status"] not in _UNDECIDED:
        return []
    totals_minor = {each["order_id"]: each["total_minor"] for each in rows if each["order_id"] is not None}
    unpaid_minor = {
        each["order_id"]: each["total_minor"]
        for each in rows
        if each["order_id"] is not None and each["order_status"] != "paid_escrow"
    }
    expected = None
    if totals_minor:
        expected = ExpectedPayment(
            frozenset(totals_minor), sum(totals_minor.values()), sum(unpaid_minor.values()), row["settlement"]
        )
    try:
        acceptance = evaluate_acceptance(row["amount_minor"], row["currency"], expected)
        if row["is_disputed"]:
            raise ChargeCannotBeAccepted(_DISPUTED)
    except ChargeCannotBeAccepted as error:
        accept = QuarantinePlan(outcome="accept", reason=error.explanation, entries=[])
    else:
        accept = await _plan(uow, "accept", _posting(row, "accept", unpaid_minor, acceptance.surplus_minor))
    return [accept, await _plan(uow, "return", _posting(row, "return", {}, row["amount_minor"]))]


def _posting(row: Row, outcome: Outcome, totals_minor: Mapping[UUID, int], refund_minor: int) -> Posting:
    identity = row["identity"]
    refund_id = (
        identifiers.overpayment_refund_id(identity)
        if outcome == "accept"
        else identifiers.quarantine_refund_id(identity)
    )
    return postings.quarantine_release(
        identity,
        row["reference"],
        row["currency"],
        totals_minor=totals_minor,
        refund_id=refund_id,
        refund_minor=refund_minor,
    )


async def _plan(uow: UnitOfWork, outcome: Outcome, posting: Posting) -> QuarantinePlan:
    balances = await find_balances(uow, [entry.account.name for entry in posting.entries])
    entries = [
        PlannedEntry(
            account=entry.account.name,
            amount_minor=entry.amount_minor,
            balance_minor=balances[entry.account.name],
        )
        for entry in posting.entries
    ]
    return QuarantinePlan(outcome=outcome, reason=None, entries=entries)
