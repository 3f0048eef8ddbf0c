"""Every operation of the JSON API for developers: one table for its routes, its OpenAPI document and its page."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from sandbox.control.charges import show_charges
from sandbox.control.clock import advance_clock
from sandbox.control.mailbox import clear_messages, put_mailbox, show_messages
from sandbox.control.movements import list_accounts, list_movements, put_account, show_balance
from sandbox.control.switches import (
    change_charge,
    change_dispute,
    change_refund,
    change_transfer,
    delete_faults,
    make_settlement,
    put_faults,
    put_gateway_keys,
    put_settings,
    show_evidence,
    show_faults,
    show_settings,
)
from sandbox.control.traces import show_trace, show_trace_list
from sandbox.control.webhooks import list_webhooks, resend_webhook, resend_webhooks, send_webhook
from sandbox.sinks.message_templates import review_template
from sandbox.sinks.messaging import receive_incoming, report_status

PREFIX: Final = "/control"
_REFERENCE: Final = "pay_01kq8v7d2m"
_TEMPLATE: Final = "order_confirmation"


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation. `path` is below /control; `query` gives the meaning of each parameter; `body` and `response` are
    examples.

    `acts` are the values of `{act}` in the path.
    """

    method: str
    path: str
    handler: Callable[[Request], Awaitable[Response]]
    tag: str
    summary: str
    query: Mapping[str, str] = field(default_factory=dict)
    acts: tuple[str, ...] = ()
    body: Any = None
    response: Any = None
    status: int = 200


_MESSAGE: Final = {
    "id": 7,
    "channel": "sms",
    "to": "+2348012345678",
    "from": "Campus",
    "subject": "",
    "text": "Your delivery PIN is 482913.",
    "html": "",
    "provider_id": "msg_1",
    "payload": {},
    "created_at": "2026-11-23T09:00:00.000Z",
}
_CHARGE: Final = {
    "reference": _REFERENCE,
    "status": "abandoned",
    "amount": 500_000,
    "currency": "NGN",
    "email": "buyer@unilag.edu.ng",
    "gateway": "paystack",
    "page": "http://localhost:8170/pay/abc123",
    "created_at": "2026-11-23T09:00:00.000Z",
}
_RULES: Final = {"transfer_call": {"timeout": True, "times": 1}, "sms": {"fail": "Rejected", "match": "+2348012345678"}}
_MAILBOX: Final = {"name": "Ada Okafor", "addresses": ["ada@unilag.edu.ng", "+2348012345678"]}
_LIMIT: Final = {"limit": "the most rows to return"}

OPERATIONS: Final = (
    Operation(
        "GET",
        "/messages",
        show_messages,
        "mailbox",
        "List messages",
        query={
            "to": "one mail address, phone number or device token",
            "channel": "`sms`, `email`, `messaging`, `push`, `web_push` or `on_call`",
            "q": "words in recipient, sender, subject or text",
            "after": "the id of a message: only newer ones",
            "wait": "seconds (up to 60) to wait for a message when none matches",
            **_LIMIT,
        },
        response=[_MESSAGE],
    ),
    Operation("DELETE", "/messages", clear_messages, "mailbox", "Delete all messages", status=204),
    Operation("PUT", "/people", put_mailbox, "mailbox", "Name a person", body=_MAILBOX, response=_MAILBOX),
    Operation(
        "GET",
        "/charges",
        show_charges,
        "payments",
        "List transactions",
        query={
            "status": "`abandoned` (unpaid), `success` or `failed`",
            "email": "the buyer's mail address",
            **_LIMIT,
        },
        response=[_CHARGE],
    ),
    Operation(
        "POST",
        "/charges/{reference}/{act}",
        change_charge,
        "payments",
        "Pay, decline, dispute or refund a transaction, or transfer to its account",
        acts=("pay", "decline", "transfer", "dispute", "refund"),
        body={},
        response={"reference": _REFERENCE, "status": "success", "amount": 500_000},
    ),
    Operation(
        "POST",
        "/refunds/{id}/{act}",
        change_refund,
        "payments",
        "Settle a refund",
        acts=("process", "fail", "attention"),
        body={"reason": "Refund declined by the bank"},
    ),
    Operation(
        "POST",
        "/transfers/{reference}/{act}",
        change_transfer,
        "payments",
        "Settle a bank transfer",
        acts=("succeed", "fail", "reverse"),
        body={"reason": "Account number is invalid"},
    ),
    Operation(
        "POST",
        "/disputes/{id}/{act}",
        change_dispute,
        "payments",
        "Decide a chargeback",
        acts=("remind", "lose", "expire", "win", "overturn", "revoke"),
    ),
    Operation("GET", "/disputes/{id}/evidence", show_evidence, "payments", "Show a merchant's evidence"),
    Operation(
        "POST",
        "/settlements",
        make_settlement,
        "payments",
        "Settle the balance to the merchant's bank",
        body={"currency": "NGN"},
    ),
    Operation(
        "POST",
        "/clock/advance",
        advance_clock,
        "clock",
        "Advance the clock",
        body={"seconds": 3600},
        response={"seconds": 3600.0, "transfers": 1, "refunds": 0, "webhooks": 2, "disputes": 0},
    ),
    Operation("GET", "/faults", show_faults, "faults", "Show the rules", response=_RULES),
    Operation("PUT", "/faults", put_faults, "faults", "Let calls and webhooks fail", body=_RULES, response=_RULES),
    Operation("DELETE", "/faults", delete_faults, "faults", "Remove all rules", response={}),
    Operation("GET", "/settings", show_settings, "settings", "Show the settings"),
    Operation(
        "PUT",
        "/settings",
        put_settings,
        "settings",
        "Change settings",
        body={"transfer_settlement": "manual", "refund_settlement": "manual"},
    ),
    Operation("GET", "/accounts", list_accounts, "settings", "List named bank accounts"),
    Operation(
        "PUT",
        "/accounts",
        put_account,
        "settings",
        "Name a bank account",
        body={"bank_code": "058", "account_number": "0123456789", "account_name": "Chidi Foods"},
    ),
    Operation(
        "PUT", "/gateway-keys", put_gateway_keys, "settings", "Replace the accepted keys", body={"keys": ["sk_test_1"]}
    ),
    Operation(
        "GET",
        "/webhooks",
        list_webhooks,
        "webhooks",
        "List webhooks with their attempts",
        query={
            "reference": "the reference of a transaction or transfer",
            "event": "such as `charge.success`",
            "status": "`pending`, `delivered`, `dropped` or `dead`",
            "target": "`gateway`, `flutterwave`, `messaging` or `sms`",
            **_LIMIT,
        },
    ),
    Operation(
        "POST",
        "/webhooks/send",
        send_webhook,
        "webhooks",
        "Sign and send a body",
        query={"copies": "how often", "target": "`gateway` or `messaging`"},
        body={"event": "charge.success", "data": {"reference": _REFERENCE}},
        status=202,
    ),
    Operation(
        "POST",
        "/webhooks/resend",
        resend_webhooks,
        "webhooks",
        "Send webhooks again",
        query={"since": "an instant (ISO 8601)"},
        status=202,
    ),
    Operation("POST", "/webhooks/{id}/resend", resend_webhook, "webhooks", "Send one webhook again", status=202),
    Operation(
        "POST",
        "/messaging/incoming",
        receive_incoming,
        "messaging app",
        "Write as a customer",
        body={"from": "+2348012345678", "name": "Ada", "text": "Where is my order?"},
    ),
    Operation(
        "POST",
        "/messaging/statuses",
        report_status,
        "messaging app",
        "Report the status of a message",
        body={"id": "wamid.1", "status": "read"},
    ),
    Operation(
        "POST",
        "/messaging/templates/{name}/{act}",
        review_template,
        "messaging app",
        "Review a template",
        acts=("approve", "reject", "pause", "disable"),
        body={"language": "en", "reason": "NONE"},
    ),
    Operation("GET", "/book", show_balance, "ledger", "Show balances and totals"),
    Operation(
        "GET",
        "/book/movements",
        list_movements,
        "ledger",
        "List movements",
        query={
            "reference": "of a transaction, transfer or refund",
            "kind": "such as `charge`, `transfer` or `refund`",
            "currency": "such as `NGN`",
            "gateway": "`paystack` or `flutterwave`",
            "before": "the id of a movement: only older ones",
            **_LIMIT,
        },
    ),
    Operation("GET", "/traces", show_trace_list, "traces", "List traces"),
    Operation("GET", "/traces/{trace_id}", show_trace, "traces", "Show the spans of a trace"),
)
