"""Disputes: a payer's bank requests a chargeback, which is won or lost."""

from sqlite3 import Row

from sandbox.clock import now_text
from sandbox.database import Database, InsufficientBalance
from sandbox.gateway.events import dispute_event
from sandbox.outbox import enqueue_gateway_event
from sandbox.web import RefusedError
from sandbox.world import World

DISPUTES = (
    "disputes AS listed JOIN (SELECT id AS transaction_key, reference, currency, amount_minor AS paid_minor, channel,"
    " customer_id FROM transactions) ON transaction_key = transaction_id"
    " JOIN (SELECT id AS customer_key, email FROM customers) ON customer_key = customer_id"
)
# The action in the path, its event, and its resolution.
DISPUTE_ACTIONS: dict[str, tuple[str, str | None]] = {
    "remind": ("charge.dispute.remind", None),
    "lose": ("charge.dispute.resolve", "merchant-accepted"),
    "win": ("charge.dispute.resolve", "declined"),
    # A lost dispute that is won later: the same event and id with another content.
    "overturn": ("charge.dispute.resolve", "declined"),
}


def find_dispute(database: Database, dispute_id: int) -> Row | None:
    return database.one(f"SELECT * FROM {DISPUTES} WHERE listed.id = ?", dispute_id)


def open_dispute(world: World, charge: Row, amount_minor: int | None) -> Row:
    """Opens a dispute of a paid charge, or of a part of it. No money moves yet. Raises RefusedError 400."""
    amount_minor = charge["amount_minor"] if amount_minor is None else amount_minor
    if charge["status"] != "success" or not 0 < amount_minor <= charge["amount_minor"]:
        raise RefusedError(400, "Only what was paid can be disputed")
    with world.database.transaction():
        dispute_id = world.database.run(
            "INSERT INTO disputes (transaction_id, amount_minor, status, created_at, updated_at)"
            " VALUES (?, ?, 'awaiting-merchant-feedback', ?, ?)",
            charge["id"],
            amount_minor,
            now_text(),
            now_text(),
        )
        dispute = _reported(world, dispute_id, "charge.dispute.create")
    world.webhook_sender.wake()
    return dispute


def move_dispute(world: World, dispute: Row, action: str) -> Row:
    """A reminder, the decision, or its revision; the money of a lost one leaves with it and returns with an overturned one.

    Raises RefusedError 409.
    """
    event, resolution = DISPUTE_ACTIONS[action]
    if action == "overturn" and dispute["resolution"] != "merchant-accepted":
        raise RefusedError(409, "Only a lost dispute can be overturned")
    if action != "overturn" and dispute["status"] == "resolved":
        raise RefusedError(409, "This dispute is resolved")
    try:
        with world.database.transaction():
            if resolution is not None:
                world.database.run(
                    "UPDATE disputes SET status = 'resolved', resolution = ?, updated_at = ? WHERE id = ?",
                    resolution,
                    now_text(),
                    dispute["id"],
                )
            if resolution == "merchant-accepted":
                world.database.post("chargeback", dispute["reference"], -dispute["amount_minor"], dispute["currency"])
            if action == "overturn":
                world.database.post("chargeback", dispute["reference"], dispute["amount_minor"], dispute["currency"])
            moved = _reported(world, dispute["id"], event)
    except InsufficientBalance:
        raise RefusedError(409, "The balance does not cover the chargeback") from None
    world.webhook_sender.wake()
    return moved


def _reported(world: World, dispute_id: int, event: str) -> Row:
    dispute = find_dispute(world.database, dispute_id)
    if dispute is None:
        raise LookupError(dispute_id)
    keys = (dispute["reference"], str(dispute["amount_minor"]))
    enqueue_gateway_event(world.database, world.faults, "dispute_webhook", dispute_event(event, dispute), *keys)
    return dispute
