"""Refunds to a payer."""

import time
from sqlite3 import Row

from sandbox.clock import now_text
from sandbox.database import Database, InsufficientBalance
from sandbox.faults import Fault
from sandbox.gateway.codes import new_code
from sandbox.outbox import enqueue_gateway_event
from sandbox.reports import REPORTS
from sandbox.web import RefusedError
from sandbox.world import World

REFUNDS = (
    "refunds AS listed JOIN (SELECT id AS transaction_key, reference AS transaction_reference, customer_id,"
    " amount_minor AS paid_minor, channel, paid_at, gateway FROM transactions) ON transaction_key = transaction_id"
    " JOIN (SELECT id AS customer_key, email, customer_code FROM customers) ON customer_key = customer_id"
)

OPEN_STATUSES = ("pending", "processing")
SHORT_BALANCE = "Insufficient balance to process the refund"


def find_refund(database: Database, refund_id: int) -> Row | None:
    return database.one(f"SELECT * FROM {REFUNDS} WHERE listed.id = ?", refund_id)


def refunded_minor(database: Database, transaction_id: int) -> int:
    """Return the amount of processed and pending refunds, without failed ones."""
    row = database.one(
        "SELECT coalesce(sum(amount_minor), 0) AS total FROM refunds WHERE transaction_id = ? AND status <> 'failed'",
        transaction_id,
    )
    return 0 if row is None else int(row["total"])


def accept_refund(
    world: World, charge: Row, amount_minor: int | None, merchant_note: str, customer_note: str, fault: Fault | None
) -> Row:
    """
    Record a refund, of the remaining amount when none is given. The balance is debited when it is processed.
    Raises RefusedError 400 when nothing was paid or the amount exceeds the remainder.
    """
    database = world.database
    if charge["status"] != "success":
        raise RefusedError(400, "Transaction has not been paid, so it cannot be refunded")
    left_minor = charge["amount_minor"] - refunded_minor(database, charge["id"])
    if left_minor == 0:
        raise RefusedError(400, "Transaction has been fully reversed")
    if amount_minor is not None and amount_minor > left_minor:
        raise RefusedError(400, "Refund amount cannot be more than the amount left of the transaction")
    automatic = world.switches.refund_settlement == "auto"
    now = now_text()
    refund_id = database.run(
        "INSERT INTO refunds (refund_reference, transaction_id, amount_minor, currency, status, failure, merchant_note,"
        " customer_note, next_move_at, created_at, updated_at) VALUES (?, ?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?)",
        new_code("TRF_"),
        charge["id"],
        left_minor if amount_minor is None else amount_minor,
        charge["currency"],
        fault.fail if fault is not None else None,
        merchant_note,
        customer_note,
        time.time() + world.switches.refund_delay_seconds if automatic else None,
        now,
        now,
    )
    return _found(database, refund_id)


def settle_refund(world: World, refund_id: int, failure: str | None = None) -> Row:
    """
    Process a pending refund, or fail it: for the reason given, for the one planned by a fault rule, or because the
    balance does not cover it. State, money and webhook commit together. Raises RefusedError 409 when it is not pending.
    """
    database = world.database
    refund = _found(database, refund_id)
    if refund["status"] not in OPEN_STATUSES:
        raise RefusedError(409, f"A refund that is {refund['status']} cannot be settled again")
    failure = failure or refund["failure"]
    try:
        settled = _write_settlement(world, refund, failure)
    except InsufficientBalance:
        settled = _write_settlement(world, refund, SHORT_BALANCE)
    world.webhook_sender.wake()
    return settled


def request_account(world: World, refund_id: int) -> Row:
    """Reject an open refund, as the payer's bank: it awaits an account from the merchant. Raises RefusedError 409."""
    refund = _found(world.database, refund_id)
    if refund["gateway"] != "paystack":
        raise RefusedError(409, "Refunds of this gateway take no account")
    if refund["status"] not in OPEN_STATUSES:
        raise RefusedError(409, f"A refund that is {refund['status']} needs no attention")
    with world.database.transaction():
        _save_status(world.database, refund_id, "needs-attention", None)
        waiting = _found(world.database, refund_id)
        _enqueue_event(world, waiting)
    world.webhook_sender.wake()
    return waiting


def retry_with_account(world: World, refund: Row) -> Row:
    """Continue the refund, to the account named. Raises RefusedError 422 when it does not need attention."""
    if refund["status"] != "needs-attention":
        raise RefusedError(422, "Only a refund that needs attention can be retried", "invalid_params")
    is_automatic = world.switches.refund_settlement == "auto"
    due = time.time() + world.switches.refund_delay_seconds if is_automatic else None
    with world.database.transaction():
        _save_status(world.database, refund["id"], "processing", due)
        retried = _found(world.database, refund["id"])
        _enqueue_event(world, retried)
    world.webhook_sender.wake()
    return retried


def _save_status(database: Database, refund_id: int, status: str, due: float | None) -> None:
    database.run(
        "UPDATE refunds SET status = ?, next_move_at = ?, updated_at = ? WHERE id = ?",
        status,
        due,
        now_text(),
        refund_id,
    )


def _enqueue_event(world: World, refund: Row) -> None:
    keys = (refund["transaction_reference"], refund["refund_reference"], str(refund["amount_minor"]))
    gateway = refund["gateway"]
    body = REPORTS[gateway].refund(refund)
    enqueue_gateway_event(world.database, world.faults, "refund_webhook", body, *keys, gateway=gateway)


def _write_settlement(world: World, refund: Row, failure: str | None) -> Row:
    database = world.database
    with database.transaction():
        database.run(
            "UPDATE refunds SET status = ?, failure = ?, next_move_at = NULL, updated_at = ? WHERE id = ?",
            "processed" if failure is None else "failed",
            failure,
            now_text(),
            refund["id"],
        )
        if failure is None:
            database.post(
                "refund",
                refund["refund_reference"],
                -refund["amount_minor"],
                refund["currency"],
                refund["gateway"],
            )
        settled = _found(database, refund["id"])
        _enqueue_event(world, settled)
    return settled


def _found(database: Database, refund_id: int) -> Row:
    refund = find_refund(database, refund_id)
    if refund is None:
        raise LookupError(refund_id)
    return refund
