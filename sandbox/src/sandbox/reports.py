"""The webhooks and fees of each gateway, for the transactions that both share."""

from collections.abc import Callable
from dataclasses import dataclass
from sqlite3 import Row
from typing import Any

from sandbox.flutterwave import views
from sandbox.gateway import events
from sandbox.gateway.charge_fees import fee_of

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reports:
    """The bodies of one gateway's webhooks, and its fee of a payment in kobo."""

    charge: Callable[[Row], Body]
    refund: Callable[[Row], Body]
    transfer: Callable[[str, Row], Body]
    dispute: Callable[[str, Row], Body]
    fee_minor: Callable[[int], int]


REPORTS = {
    "paystack": Reports(
        charge=lambda row: (events.charge_success if row["status"] == "success" else events.charge_failed)(row),
        refund=events.refund_event,
        transfer=events.transfer_event,
        dispute=events.dispute_event,
        fee_minor=fee_of,
    ),
    "flutterwave": Reports(
        charge=views.charge_event,
        refund=views.refund_event,
        transfer=lambda _event, row: views.transfer_event(row),
        dispute=lambda _event, row: views.chargeback_event(row),
        fee_minor=views.cost_minor,
    ),
}
