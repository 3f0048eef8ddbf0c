"""Disputes: a payer's bank requests a chargeback. The merchant responds before a date, and the bank decides."""

from sqlite3 import Row
from typing import Any

import msgspec

from sandbox.clock import now_text
from sandbox.database import Database, InsufficientBalance
from sandbox.gateway.codes import new_code
from sandbox.gateway.events import LOST_RESOLUTIONS
from sandbox.outbox import enqueue_gateway_event
from sandbox.reports import REPORTS
from sandbox.web import RefusedError
from sandbox.world import World

DISPUTES = (
    "disputes AS listed JOIN (SELECT id AS transaction_key, reference, currency, amount_minor AS paid_minor, channel,"
    " requested_minor, gateway_response, paid_at, fees_minor, created_at AS opened_at, customer_id, gateway, "
    "access_code"
    " FROM transactions) ON transaction_key = transaction_id"
    " JOIN (SELECT id AS customer_key, email, customer_code FROM customers) ON customer_key = customer_id"
)
# The action in the path, its event, and its resolution.
DISPUTE_ACTIONS: dict[str, tuple[str, str | None]] = {
    "remind": ("charge.dispute.remind", None),
    "lose": ("charge.dispute.resolve", "merchant-accepted"),
    # The date passed without a response.
    "expire": ("charge.dispute.resolve", "auto-accepted"),
    "win": ("charge.dispute.resolve", "declined"),
    # A decision that the bank changes: the same event and id with another content.
    "overturn": ("charge.dispute.resolve", "declined"),
    "revoke": ("charge.dispute.resolve", "merchant-accepted"),
}


def find_dispute(database: Database, dispute_id: int) -> Row | None:
    return database.one(f"SELECT * FROM {DISPUTES} WHERE listed.id = ?", dispute_id)


def open_dispute(world: World, charge: Row, amount_minor: int | None, due_at: str | None) -> Row:
    """Open a dispute of a paid charge, or of a part of it. No money moves yet. Raises RefusedError 400."""
    amount_minor = charge["amount_minor"] if amount_minor is None else amount_minor
    if charge["status"] != "success" or not 0 < amount_minor <= charge["amount_minor"]:
        raise RefusedError(400, "Only what was paid can be disputed")
    with world.database.transaction():
        dispute_id = world.database.run(
            "INSERT INTO disputes (transaction_id, amount_minor, status, created_at, updated_at, due_at)"
            " VALUES (?, ?, 'awaiting-merchant-feedback', ?, ?, ?)",
            charge["id"],
            amount_minor,
            now_text(),
            now_text(),
            due_at,
        )
        dispute = _reported(world, dispute_id, "charge.dispute.create")
    world.webhook_sender.wake()
    return dispute


def move_dispute(world: World, dispute: Row, action: str) -> Row:
    """Return a reminder, the decision, or its revision; a lost one debits the balance, and an overturned one credits it
    again.

    `overturn` changes a lost dispute to a won one, `revoke` a won one to a lost one.

    Raises RefusedError 409.
    """
    event, resolution = DISPUTE_ACTIONS[action]
    if action == "overturn" and dispute["resolution"] not in LOST_RESOLUTIONS:
        raise RefusedError(409, "Only a lost dispute can be overturned")
    if action == "revoke" and dispute["resolution"] != "declined":
        raise RefusedError(409, "Only a won dispute can be revoked")
    if action not in ("overturn", "revoke") and dispute["status"] == "resolved":
        raise RefusedError(409, "This dispute is resolved")
    try:
        with world.database.transaction():
            if resolution is not None:
                _resolve(world, dispute, resolution, dispute["amount_minor"])
            moved = _reported(world, dispute["id"], event)
    except InsufficientBalance:
        raise RefusedError(409, "The balance does not cover the chargeback") from None
    world.webhook_sender.wake()
    return moved


def add_evidence(world: World, dispute: Row, content: dict[str, Any]) -> Row:
    """Record the merchant's evidence. Raises RefusedError 400 when no response is awaited."""
    _check_awaited(dispute)
    with world.database.transaction():
        evidence_id = world.database.run(
            "INSERT INTO dispute_evidence (dispute_id, content, created_at) VALUES (?, ?, ?)",
            dispute["id"],
            msgspec.json.encode(content).decode(),
            now_text(),
        )
        world.database.run(
            "UPDATE disputes SET evidence_id = ?, updated_at = ? WHERE id = ?", evidence_id, now_text(), dispute["id"]
        )
    found = world.database.one("SELECT * FROM dispute_evidence WHERE id = ?", evidence_id)
    if found is None:
        raise LookupError(evidence_id)
    return found


def reserve_file(database: Database, dispute: Row) -> str:
    """Return the name of a file that may be uploaded."""
    file_name = new_code(length=20)
    database.run("INSERT INTO dispute_files (file_name, dispute_id) VALUES (?, ?)", file_name, dispute["id"])
    return file_name


def respond(
    world: World, dispute: Row, resolution: str, message: str, amount_minor: int, file_name: str, evidence: int | None
) -> Row:
    """Resolve as the merchant: accepted, the balance is debited at once; declined, the bank decides.

    Raises RefusedError 400 for an unexpected response, an unknown file or evidence, or too large an amount.
    """
    _check_awaited(dispute)
    database = world.database
    uploaded = database.one(
        "SELECT 1 FROM dispute_files WHERE file_name = ? AND dispute_id = ? AND content IS NOT NULL",
        file_name,
        dispute["id"],
    )
    if uploaded is None:
        raise RefusedError(400, "uploaded_filename is not the name of an uploaded file")
    if evidence is not None and evidence != dispute["evidence_id"]:
        raise RefusedError(400, "Evidence not found")
    if amount_minor > dispute["amount_minor"] or (resolution == "merchant-accepted" and amount_minor == 0):
        raise RefusedError(400, "Refund amount is not within the disputed amount")
    try:
        with database.transaction():
            database.run(
                "UPDATE disputes SET status = 'awaiting-bank-feedback', resolution = 'declined', attachments = "
                "?, message = ?,"
                " updated_at = ? WHERE id = ?",
                file_name,
                message,
                now_text(),
                dispute["id"],
            )
            if resolution == "merchant-accepted":
                _resolve(world, dispute, resolution, amount_minor)
                _reported(world, dispute["id"], "charge.dispute.resolve")
    except InsufficientBalance:
        raise RefusedError(400, "Insufficient balance to refund the dispute") from None
    world.webhook_sender.wake()
    return _found(database, dispute["id"])


def _check_awaited(dispute: Row) -> None:
    if dispute["status"] != "awaiting-merchant-feedback":
        raise RefusedError(400, "This dispute does not await merchant feedback")


def _resolve(world: World, dispute: Row, resolution: str, amount_minor: int) -> None:
    was_lost, is_lost = dispute["resolution"] in LOST_RESOLUTIONS, resolution in LOST_RESOLUTIONS
    world.database.run(
        (
            "UPDATE disputes SET status = 'resolved', resolution = ?, amount_minor = ?, resolved_at = ?, updated_at "
            "= ? WHERE id = ?"
        ),
        resolution,
        amount_minor,
        now_text(),
        now_text(),
        dispute["id"],
    )
    if was_lost != is_lost:
        moved_minor = -amount_minor if is_lost else amount_minor
        world.database.post("chargeback", dispute["reference"], moved_minor, dispute["currency"], dispute["gateway"])


def _reported(world: World, dispute_id: int, event: str) -> Row:
    dispute = _found(world.database, dispute_id)
    keys = (dispute["reference"], str(dispute["amount_minor"]))
    gateway = dispute["gateway"]
    body = REPORTS[gateway].dispute(event, dispute)
    enqueue_gateway_event(world.database, world.faults, "dispute_webhook", body, *keys, gateway=gateway)
    return dispute


def _found(database: Database, dispute_id: int) -> Row:
    dispute = find_dispute(database, dispute_id)
    if dispute is None:
        raise LookupError(dispute_id)
    return dispute
