"""Delivery receipts of the SMS providers: accepted by the network, then delivered to the telephone."""

import base64
import hashlib
import hmac
import time
from typing import NamedTuple
from urllib.parse import urlencode

import msgspec

from sandbox.clock import now_text
from sandbox.faults import Fault
from sandbox.gateway.codes import new_code
from sandbox.outbox import enqueue
from sandbox.sinks.inbox import normal_recipient
from sandbox.world import World

STATUSES = {"termii": ("Message Sent", "DELIVERED"), "africas-talking": ("Sent", "Success")}
FAILURES = {"termii": "Message Failed", "africas-talking": "Failed"}


class TwilioCallback(NamedTuple):
    """The address that the sender gave, which the signature covers, and the token of the account, which signs."""

    address: str
    token: str


class SentText(NamedTuple):
    """A text message that a company accepted, under the id that the company gave it."""

    company: str
    recipient: str
    message_id: str
    sender: str
    text: str
    channel: str = ""


def enqueue_twilio_statuses(
    world: World, recipient: str, sid: str, sender: str, account: str, callback: TwilioCallback
) -> None:
    """Statuses of one message. They arrive at SMS_RECEIPT_URL; the event holds the signature over the given address."""
    if not world.settings.sms_receipt_url or not world.switches.sms_receipts:
        return
    fault = world.faults.claim_fault("sms_receipt", normal_recipient(recipient)) or Fault()
    statuses = ("sent", "delivered") if fault.fail is None else ("undelivered",)
    start = time.time() + fault.delay
    for position, status in enumerate(statuses, start=1):
        form = {
            "MessageSid": sid,
            "SmsSid": sid,
            "MessageStatus": status,
            "SmsStatus": status,
            "To": recipient,
            "From": sender,
            "AccountSid": account,
            "ApiVersion": "2010-04-01",
        }
        if fault.fail is not None:
            form["ErrorCode"] = fault.fail if fault.fail.isdigit() else "30008"
        signed = callback.address + "".join(f"{name}{value}" for name, value in sorted(form.items()))
        digest = hmac.new(callback.token.encode(), signed.encode(), hashlib.sha1).digest()
        event = f"twilio {base64.b64encode(digest).decode()}"
        due = start + position * world.switches.sms_receipt_delay_seconds
        for _ in range(1 + fault.duplicate):
            kept = "dropped" if fault.drop else "pending"
            enqueue(world.database, "sms", event, sid, urlencode(form).encode(), due, kept)
    world.webhook_sender.wake()


def enqueue_receipts(world: World, sent: SentText) -> None:
    """Receipts of one message, in the company's own shape, unless they are switched off or not requested."""
    if not world.settings.sms_receipt_url or not world.switches.sms_receipts:
        return
    fault = world.faults.claim_fault("sms_receipt", normal_recipient(sent.recipient)) or Fault()
    statuses = STATUSES[sent.company] if fault.fail is None else (FAILURES[sent.company],)
    start = time.time() + fault.delay
    for position, status in enumerate(statuses, start=1):
        body = _body(sent, status, fault.fail)
        due = start + position * world.switches.sms_receipt_delay_seconds
        kept = "dropped" if fault.drop else "pending"
        for _ in range(1 + fault.duplicate):
            enqueue(world.database, "sms", sent.company, sent.message_id, body, due, kept)
    world.webhook_sender.wake()


def _body(sent: SentText, status: str, reason: str | None) -> bytes:
    if sent.company == "termii":
        reported = {
            "type": "outbound",
            "id": new_code(length=20),
            "message_id": sent.message_id,
            "receiver": sent.recipient,
            "sender": sent.sender,
            "message": sent.text,
            "sent_at": now_text(),
            "cost": "2.5",
            "status": status,
            "channel": sent.channel,
        }
        return msgspec.json.encode(reported)
    form = {
        "id": sent.message_id,
        "status": status,
        "phoneNumber": sent.recipient,
        "networkCode": "62130",
        "retryCount": "0",
    }
    return urlencode(form | ({"failureReason": reason} if reason else {})).encode()
