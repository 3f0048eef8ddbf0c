"""The objects of the gateways' lists, as the audit compares them. Amounts in the currency's minor unit."""

from collections.abc import Mapping
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final, Literal, NamedTuple

Kind = Literal["charge", "refund", "transfer", "dispute", "settlement"]
KINDS_LISTED: Final[tuple[Kind, ...]] = ("charge", "refund", "transfer", "dispute", "settlement")

FLUTTERWAVE_PREFIX: Final = "flw:"
# A transfer in these states has moved no money.
CAME_BACK: Final = ("failed", "rejected", "blocked", "abandoned", "reversed")
_PAID: Final = ("success", "reversed")
# Resolutions of a dispute: the money returned to the payer, or is ours.
_LOST: Final = ("merchant-accepted", "auto-accepted", "accepted", "lost")
_WON: Final = ("declined", "won")
# Flutterwave's states; any other one is under way. A refund that is `completed` alone has not reached the payer.
_FLUTTERWAVE_STATUSES: Final = {"SUCCESSFUL": "success", "FAILED": "failed"}
_FLUTTERWAVE_REFUNDED: Final = (
    "completed-bank-transfer", "completed-momo", "completed-mpgs", "completed-offline", "completed-preauth",
    "successful",
)  # fmt: skip
# Destinations of Flutterwave's settlements that are no bank account.
_WALLETS: Final = ("autowallet", "wallet")


class Reported(NamedTuple):
    """An object at the gateway.

    `key`: the id of a charge, refund, dispute or settlement, the reference of a transfer. `reference`: the reference of
    a charge, our note on a refund. `at`: its last change, ISO 8601, or an empty text.
    """

    key: str
    amount_minor: int
    fee_minor: int
    currency: str
    status: str
    reference: str
    at: str

    @property
    def changed_at(self) -> datetime | None:
        try:
            return datetime.fromisoformat(self.at) if self.at else None
        except ValueError:
            return None


def read_paystack(kind: Kind, line: Mapping[str, Any]) -> Reported | None:
    """Read a row of Paystack's list; None for an unpaid transaction. Raises KeyError, TypeError or ValueError."""
    status = str(line["status"])
    if kind == "charge" and status not in _PAID:
        return None
    currency = _text(line.get("currency")) if kind == "dispute" else str(line["currency"])
    if kind == "charge":
        at = line.get("paid_at") or line.get("created_at")
        fee_minor = int(line.get("fees") or 0)
        return Reported(
            str(line["id"]), int(line["amount"]), fee_minor, currency, status, str(line["reference"]), _text(at)
        )
    changed_at = _text(line.get("updatedAt") or line.get("updated_at") or line.get("createdAt"))
    if kind == "refund":
        note = _text(line.get("merchant_note"))
        changed_at = _text(line.get("refunded_at")) or changed_at
        return Reported(str(line["id"]), int(line["amount"]), 0, currency, status, note, changed_at)
    if kind == "transfer":
        # A transfer from before references has its code only.
        reference = str(line.get("reference") or line["transfer_code"])
        fee_minor = int(line.get("fee_charged") or 0)
        return Reported(reference, int(line.get("amount") or 0), fee_minor, currency, status, "", changed_at)
    if kind == "dispute":
        resolution = line.get("resolution") if status == "resolved" else None
        outcome = "lost" if resolution in _LOST else "won" if resolution in _WON else "opened"
        amount_minor = _whole(line.get("refund_amount"))
        return Reported(str(line["id"]), amount_minor, 0, currency, outcome, "", changed_at)
    amount_minor = int(line["effective_amount"]) if status == "success" else 0
    return Reported(str(line["id"]), amount_minor, 0, currency, status, "", changed_at)


def read_flutterwave(kind: Kind, line: Mapping[str, Any]) -> Reported | None:
    """Read a row of Flutterwave's list, whose ids have the prefix `flw:` in our records. None for an unpaid
    transaction, and for a settlement that leaves the money in the wallet. Raises as above.
    """
    key, changed_at = f"{FLUTTERWAVE_PREFIX}{line['id']}", _text(line.get("created_at"))
    # Refunds and chargebacks name no currency: payments are opened in naira only.
    currency = str(line.get("currency") or "NGN") if kind in ("refund", "dispute") else str(line["currency"])
    status = str(line["status"])
    if kind == "charge":
        if status != "successful":
            return None
        paid_minor, settled = kobo_of(line.get("charged_amount") or line["amount"]), line.get("amount_settled")
        fee_minor = kobo_of(line.get("app_fee") or 0) if settled is None else max(0, paid_minor - kobo_of(settled))
        return Reported(key, paid_minor, fee_minor, currency, "success", str(line["tx_ref"]), changed_at)
    if kind == "refund":
        status = "processed" if status in _FLUTTERWAVE_REFUNDED else status
        amount_minor = kobo_of(line["amount_refunded"])
        return Reported(key, amount_minor, 0, currency, status, _text(line.get("comments")), changed_at)
    if kind == "dispute":
        outcome = "lost" if status in _LOST else "won" if status == "won" else "opened"
        # Chargebacks are queried by the reference of their transaction.
        key = f"{key}@{line['flw_ref']}"
        return Reported(key, kobo_of(line["amount"]), 0, currency, outcome, "", changed_at)
    if kind == "transfer":
        status = _FLUTTERWAVE_STATUSES.get(status, "pending")
        # A transfer that paid nothing costs nothing.
        fee_minor = 0 if status == "failed" else kobo_of(line.get("fee") or 0)
        amount_minor = kobo_of(line.get("amount") or 0)
        return Reported(str(line["reference"]), amount_minor, fee_minor, currency, status, "", changed_at)
    if line["destination"] in _WALLETS:
        return None
    status = "success" if status == "completed" else status
    amount_minor = kobo_of(line["net_amount"]) if status == "success" else 0
    return Reported(key, amount_minor, 0, currency, status, "", changed_at)


def kobo_of(naira: Any) -> int:
    """Naira in whole kobo: a calculated fee may have more decimals."""
    return int((Decimal(naira) * 100).to_integral_value(ROUND_HALF_UP))


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _whole(value: Any) -> int:
    """Return minor units; 0 for an absent or unusable amount, which means that all of the charge is disputed."""
    text = _text(value)
    return int(text) if text.isascii() and text.isdigit() else 0
