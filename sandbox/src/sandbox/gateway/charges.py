"""Charges: initialization, payment and decline of a transaction."""

import re
from dataclasses import dataclass
from sqlite3 import IntegrityError, Row
from typing import Any

import msgspec

from sandbox.clock import now_text
from sandbox.database import AMOUNT_MINOR_MAX, Database
from sandbox.gateway.codes import new_code
from sandbox.gateway.fields import read_amount_minor, read_currency, read_reference, read_text
from sandbox.outbox import enqueue_gateway_event
from sandbox.reports import REPORTS
from sandbox.web import RefusedError
from sandbox.world import World

CHANNELS = ("card", "bank_transfer", "ussd")
EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
# Of the transactions with their customer, as every view of a charge needs them.
CHARGES = (
    "transactions AS listed"
    " JOIN (SELECT id AS customer_key, email, customer_code FROM customers) ON customer_key = customer_id"
)


@dataclass(frozen=True, slots=True)
class Opening:
    """A checked request to initialize a transaction. `metadata` is JSON text, as in the webhook."""

    email: str
    amount_minor: int
    currency: str
    reference: str
    callback_url: str | None
    channels: tuple[str, ...]
    metadata: str


def read_opening(body: dict[str, Any]) -> Opening:
    """Check the body of POST /transaction/initialize; raises RefusedError 400."""
    email = read_email(body)
    callback_url = read_text(body, "callback_url", "") or None
    if callback_url is not None and not callback_url.startswith(("http://", "https://")):
        raise RefusedError(400, "callback_url must be an http or https address")
    return Opening(
        email=email,
        amount_minor=read_amount_minor(body.get("amount")),
        currency=read_currency(body),
        reference=read_reference(body, new_code("T", 14)),
        callback_url=callback_url,
        channels=_read_channels(body.get("channels")),
        metadata=read_metadata(body.get("metadata")),
    )


def read_email(body: dict[str, Any]) -> str:
    """Return the payer's address. Raises RefusedError 400."""
    email = read_text(body, "email")
    if not EMAIL.fullmatch(email):
        raise RefusedError(400, "Invalid Email Address Passed", "invalid_email_address")
    return email


def _read_channels(given: Any) -> tuple[str, ...]:
    if given is None or given == []:
        return CHANNELS
    if not isinstance(given, list):
        raise RefusedError(400, "channels must be an array")
    # The gateway has more channels than the page offers; those it does not offer are left out.
    allowed = tuple(
        channel for channel in CHANNELS if channel in given or (channel == "bank_transfer" and "bank" in given)
    )
    if not allowed:
        raise RefusedError(400, "No active channel")
    return allowed


def read_metadata(given: Any) -> str:
    """Metadata as an object or its JSON text; the gateway returns the object."""
    if isinstance(given, str):
        try:
            return msgspec.json.encode(msgspec.json.decode(given)).decode()
        except msgspec.DecodeError:
            return msgspec.json.encode(given).decode()
    return msgspec.json.encode(given).decode()


def open_transaction(
    database: Database, opening: Opening, gateway: str = "paystack", account_expires_at: str | None = None
) -> str:
    """Store the transaction and return its access code. Raises RefusedError 400 for a used reference."""
    access_code = new_code()
    with database.transaction():
        database.run(
            "INSERT INTO customers (email, customer_code) VALUES (?, ?) ON CONFLICT (email) DO NOTHING",
            opening.email,
            new_code("CUS_"),
        )
        try:
            database.run(
                "INSERT INTO transactions (reference, access_code, customer_id, requested_minor, requested_currency,"
                " amount_minor, currency, status, gateway_response, channel, channels, callback_url, metadata,"
                " gateway, created_at, account_expires_at)"
                " SELECT ?, ?, id, ?, ?, ?, ?, 'abandoned', 'The transaction was not completed', ?, ?, ?, ?, ?, ?, ?"
                " FROM customers WHERE email = ?",
                opening.reference,
                access_code,
                opening.amount_minor,
                opening.currency,
                opening.amount_minor,
                opening.currency,
                opening.channels[0],
                ",".join(opening.channels),
                opening.callback_url,
                opening.metadata,
                gateway,
                now_text(),
                account_expires_at,
                opening.email,
            )
        except IntegrityError:
            raise RefusedError(400, "Duplicate Transaction Reference", "duplicate_reference") from None
    return access_code


def find_charge(database: Database, column: str, value: str | int) -> Row | None:
    """One transaction with its customer, by `reference` (the first payment under it), `access_code` or `id`."""
    if column not in ("reference", "access_code", "id"):
        raise ValueError(column)
    return database.one(f"SELECT * FROM {CHARGES} WHERE listed.{column} = ? ORDER BY listed.id", value)


def pay(world: World, access_code: str, amount_minor: int | None, currency: str | None, channel: str | None) -> Row:
    """
    Pay as the customer. Amount and currency are those of the transaction unless the form names others (an underpaid or
    foreign payment). Balance, transaction and webhook commit together. Raises RefusedError 404 and 400.
    """
    charge = _payable(world.database, access_code)
    amount_minor = charge["requested_minor"] if amount_minor is None else amount_minor
    currency = charge["requested_currency"] if currency is None else currency
    channel = charge["channel"] if channel is None else channel
    if channel not in charge["channels"].split(","):
        raise RefusedError(400, "This channel is not offered for the transaction")
    if world.database.balance_minor(currency, charge["gateway"]) > AMOUNT_MINOR_MAX - amount_minor:
        raise RefusedError(400, "Invalid Amount Sent")
    fees_minor = _fees_of(world, charge["gateway"], amount_minor)
    with world.database.transaction():
        world.database.run(
            "UPDATE transactions SET status = 'success', amount_minor = ?, currency = ?, channel = ?, paid_at = ?,"
            " gateway_response = ?, fees_minor = ? WHERE id = ?",
            amount_minor,
            currency,
            channel,
            now_text(),
            "Successful" if channel == "card" else "Approved",
            fees_minor,
            charge["id"],
        )
        gateway = charge["gateway"]
        world.database.post("charge", charge["reference"], amount_minor, currency, gateway)
        if fees_minor:
            world.database.post("charge_fee", charge["reference"], -fees_minor, currency, gateway)
        paid = _found(world.database, access_code)
        event = REPORTS[gateway].charge(paid)
        if gateway == "paystack" and world.switches.charge_fees == "unreported":
            event["data"]["fees"] = None
        keys = (charge["reference"], str(amount_minor))
        enqueue_gateway_event(world.database, world.faults, "charge_webhook", event, *keys, gateway=gateway)
    world.webhook_sender.wake()
    return paid


def _fees_of(world: World, gateway: str, amount_minor: int) -> int | None:
    """Return the fee in kobo; only that of the first gateway is switched off."""
    if gateway == "paystack" and world.switches.charge_fees == "none":
        return None
    return REPORTS[gateway].fee_minor(amount_minor)


def decline(world: World, access_code: str, reason: str) -> Row:
    """Declines the payment with this reason; the payer may retry. No money moves; state and webhook commit together."""
    charge = _payable(world.database, access_code)
    with world.database.transaction():
        world.database.run(
            "UPDATE transactions SET status = 'failed', gateway_response = ? WHERE id = ?", reason, charge["id"]
        )
        declined = _found(world.database, access_code)
        keys = (charge["reference"], str(charge["requested_minor"]))
        gateway = charge["gateway"]
        enqueue_gateway_event(
            world.database, world.faults, "charge_webhook", REPORTS[gateway].charge(declined), *keys, gateway=gateway
        )
    world.webhook_sender.wake()
    return declined


def _payable(database: Database, access_code: str) -> Row:
    charge = _found(database, access_code)
    if charge["status"] == "success":
        raise RefusedError(400, "This transaction has already been paid")
    return charge


def _found(database: Database, access_code: str) -> Row:
    charge = find_charge(database, "access_code", access_code)
    if charge is None:
        raise RefusedError(404, "Transaction not found")
    return charge
