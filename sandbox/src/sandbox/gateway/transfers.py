"""Transfers: acceptance, and all later transitions."""

import time
from dataclasses import dataclass
from sqlite3 import Row

from sandbox.clock import now_text
from sandbox.database import Database, InsufficientBalance
from sandbox.faults import Fault
from sandbox.gateway.codes import new_code
from sandbox.gateway.transfer_fees import transfer_fee_minor
from sandbox.outbox import enqueue_gateway_event
from sandbox.reports import REPORTS
from sandbox.web import RefusedError
from sandbox.world import World

TRANSFERS = (
    "transfers AS listed JOIN (SELECT id AS recipient_key, recipient_code, name AS recipient_name, account_number,"
    " bank_code, created_at AS recipient_created_at FROM recipients) ON recipient_key = recipient_id"
    " LEFT JOIN (SELECT reference AS fee_reference, -amount_minor AS fee_minor FROM movements"
    " WHERE kind = 'transfer_fee') ON fee_reference = listed.reference"
)

# The permitted transitions. `success` after `failed` or `reversed` is a contradiction of the bank: the money is sent a
# second time, and the merchant has to detect it.
TRANSITIONS: dict[str, frozenset[str]] = {
    "success": frozenset({"otp", "pending", "failed", "reversed"}),
    "failed": frozenset({"otp", "pending"}),
    "reversed": frozenset({"pending", "success"}),
}

FAILURE_DEFAULT = "Account number is invalid"
REVERSAL_DEFAULT = "Transfer reversed by the bank"


@dataclass(frozen=True, slots=True)
class TransferOrder:
    """A checked request to move money out, in minor units."""

    amount_minor: int
    currency: str
    recipient: Row
    reference: str
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The planned final state of the transfer, and the bank's reason for a failure."""

    end: str
    failure: str | None


def plan_of(fault: Fault | None) -> Plan:
    """Return the final state that the fault rules select for a transfer."""
    if fault is not None and fault.fail is not None:
        return Plan("failed", fault.fail)
    if fault is not None and fault.reverse:
        return Plan("reversed", REVERSAL_DEFAULT if fault.reverse is True else fault.reverse)
    return Plan("success", None)


def find_transfer(database: Database, column: str, value: str | int) -> Row | None:
    """One transfer with its recipient, by `reference`, `transfer_code` or `id`."""
    if column not in ("reference", "transfer_code", "id"):
        raise ValueError(column)
    return database.one(f"SELECT * FROM {TRANSFERS} WHERE listed.{column} = ?", value)


def accept_transfer(world: World, order: TransferOrder, plan: Plan, gateway: str = "paystack") -> Row:
    """
    Debit the balance and record the transfer in one transaction. Raises RefusedError 400 for a used reference (no money
    moves) and for a balance that does not cover the amount.
    """
    database = world.database
    if find_transfer(database, "reference", order.reference) is not None:
        raise RefusedError(
            400, "Please provide a unique reference. Customer already has a transfer with this reference"
        )
    status, due = _first_state(world)
    now = now_text()
    try:
        with database.transaction():
            transfer_id = database.run(
                "INSERT INTO transfers (transfer_code, reference, recipient_id, amount_minor, currency, reason, status,"
                " planned, failure, next_move_at, gateway, created_at, updated_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                new_code("TRF_"),
                order.reference,
                order.recipient["id"],
                order.amount_minor,
                order.currency,
                order.reason,
                status,
                plan.end,
                plan.failure,
                due,
                gateway,
                now,
                now,
            )
            database.post("transfer", order.reference, -order.amount_minor, order.currency, gateway)
            if world.switches.transfer_fees == "standard":
                fee_minor = transfer_fee_minor(order.amount_minor)
                database.post("transfer_fee", order.reference, -fee_minor, order.currency, gateway)
    except InsufficientBalance:
        raise RefusedError(400, "Your balance is not enough to fulfil this request") from None
    if world.switches.transfer_settlement == "immediate":
        settle_next(world, transfer_id)
    return _found(database, transfer_id)


def _first_state(world: World) -> tuple[str, float | None]:
    mode = world.switches.transfer_settlement
    if mode == "otp":
        return "otp", None
    return "pending", time.time() + world.switches.transfer_delay_seconds if mode == "auto" else None


def settle_next(world: World, transfer_id: int) -> None:
    """Run the due transition to the planned final state. A reversal is a success first."""
    transfer = _found(world.database, transfer_id)
    if transfer["planned"] == "reversed" and transfer["status"] != "success":
        move_transfer(world, transfer_id, "success", None, time.time() + world.switches.transfer_delay_seconds)
    else:
        move_transfer(world, transfer_id, transfer["planned"], transfer["failure"])


def move_transfer(
    world: World, transfer_id: int, status: str, failure: str | None, next_transition_at: float | None = None
) -> Row:
    """
    One move: the state, its money and its webhook commit together. Raises RefusedError 409 for a move that is not
    allowed and 400 when a second success finds no money.
    """
    database = world.database
    before = _found(database, transfer_id)
    if before["status"] not in TRANSITIONS[status]:
        raise RefusedError(409, f"A transfer that is {before['status']} cannot become {status}")
    try:
        with database.transaction():
            database.run(
                "UPDATE transfers SET status = ?, failure = coalesce(?, failure), next_move_at = ?, updated_at = ?"
                " WHERE id = ?",
                status,
                failure,
                next_transition_at,
                now_text(),
                transfer_id,
            )
            _move_money(database, before, status)
            after = _found(database, transfer_id)
            gateway = after["gateway"]
            event = REPORTS[gateway].transfer(f"transfer.{status}", after)
            keys = (after["reference"], after["account_number"], str(after["amount_minor"]))
            enqueue_gateway_event(database, world.faults, "transfer_webhook", event, *keys, gateway=gateway)
    except InsufficientBalance:
        raise RefusedError(400, "Your balance is not enough to fulfil this request") from None
    world.webhook_sender.wake()
    return after


def _move_money(database: Database, before: Row, status: str) -> None:
    """Deduct money and fee at acceptance, return them after a failure or reversal, deduct again if contradicted."""
    reference, fee_minor, gateway = before["reference"], before["fee_minor"], before["gateway"]
    if status in ("failed", "reversed"):
        database.post(f"transfer_{status}", reference, before["amount_minor"], before["currency"], gateway)
        if fee_minor:
            database.post("transfer_fee_returned", reference, fee_minor, before["currency"], gateway)
    elif before["status"] in ("failed", "reversed"):
        database.post("transfer", reference, -before["amount_minor"], before["currency"], gateway)
        if fee_minor:
            database.post("transfer_fee_again", reference, -fee_minor, before["currency"], gateway)


def charged_fee_minor(transfer: Row) -> int:
    """Return the fee as the gateway shows it: nothing for a transfer whose money was returned."""
    return 0 if transfer["status"] in ("failed", "reversed") else transfer["fee_minor"] or 0


def _found(database: Database, transfer_id: int) -> Row:
    transfer = find_transfer(database, "id", transfer_id)
    if transfer is None:
        raise LookupError(transfer_id)
    return transfer
