"""Delivery receipts of the SMS providers: accepted by the network, then delivered to the telephone."""

import time
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


def enqueue_receipts(world: World, company: str, recipient: str, message_id: str, sender: str, text: str) -> None:
    """Receipts of one message, in the company's own shape, unless they are switched off or nobody asked for them."""
    if not world.settings.sms_receipt_url or not world.switches.sms_receipts:
        return
    fault = world.faults.claim_fault("sms_receipt", normal_recipient(recipient)) or Fault()
    statuses = STATUSES[company] if fault.fail is None else (FAILURES[company],)
    start = time.time() + fault.delay
    for position, status in enumerate(statuses, start=1):
        body = _body(company, recipient, message_id, sender, text, status, fault.fail)
        due = start + position * world.switches.sms_receipt_delay_seconds
        for _ in range(1 + fault.duplicate):
            enqueue(world.database, "sms", company, message_id, body, due, "dropped" if fault.drop else "pending")
    world.webhook_sender.wake()


def _body(
    company: str, recipient: str, message_id: str, sender: str, text: str, status: str, reason: str | None
) -> bytes:
    if company == "termii":
        reported = {
            "type": "outbound",
            "id": new_code(length=20),
            "message_id": message_id,
            "receiver": recipient,
            "sender": sender,
            "message": text,
            "sent_at": now_text(),
            "cost": "2.5",
            "status": status,
            "channel": "generic",
        }
        return msgspec.json.encode(reported)
    form = {"id": message_id, "status": status, "phoneNumber": recipient, "networkCode": "62130", "retryCount": "0"}
    return urlencode(form | ({"failureReason": reason} if reason else {})).encode()
