"""The objects of the gateways' lists, as the audit compares them. Amounts in the currency's minor unit."""

from collections.abc import Mapping
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final, Literal, NamedTuple

Kind = Literal["charge", "refund", "transfer", "dispute", "settlement"]
KINDS_LISTED: Final[tuple[Kind, ...]] = ("charge", "refund", "transfer", "dispute", "settlement")

# A transfer in these states has moved no money.
CAME_BACK: Final = ("failed", "rejected", "blocked", "abandoned", "reversed")
_PAID: Final = ("success", "reversed")
# Resolutions of a dispute: the money returned to the payer, or is ours.
_LOST: Final = ("merchant-accepted", "auto-accepted", "accepted", "lost")
_WON: Final = ("declined", "won")
# Flutterwave's states; any other one is under way.
_FLUTTERWAVE_STATUSES: Final = {"SUCCESSFUL": "success", "FAILED": "failed"}
# Destinations of Flutterwave's settlements that are no bank account.
_WALLETS: Final = ("autowallet", "wallet")


class Reported(NamedTuple):
    """An object at the gateway.

    `key`: the id of a charge, refund, dispute or settlement, the reference of a transfer. `reference`: the reference of a
    charge, our note on a refund. `at`: its last change, ISO 8601, or an empty text.
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
    """Read a row of Paystack's list; None for an unpaid transaction. Raises KeyError, TypeError or ValueError for another form."""
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
        amount_minor = int(line.get("refund_amount") or 0)
        return Reported(str(line["id"]), amount_minor, 0, currency, outcome, "", changed_at)
    amount_minor = int(line["effective_amount"]) if status == "success" else 0
    return Reported(str(line["id"]), amount_minor, 0, currency, status, "", changed_at)


def read_flutterwave(kind: Kind, line: Mapping[str, Any]) -> Reported | None:
    """Read a transfer or a settlement of Flutterwave; None for one that leaves the money in the wallet. Raises as above."""
    currency, changed_at = str(line["currency"]), _text(line.get("created_at"))
    if kind == "transfer":
        status = _FLUTTERWAVE_STATUSES.get(line["status"], "pending")
        # A transfer that paid nothing costs nothing.
        fee_minor = 0 if status == "failed" else kobo_of(line.get("fee") or 0)
        amount_minor = kobo_of(line.get("amount") or 0)
        return Reported(str(line["reference"]), amount_minor, fee_minor, currency, status, "", changed_at)
    if line["destination"] in _WALLETS:
        return None
    status = "success" if line["status"] == "completed" else str(line["status"])
    amount_minor = kobo_of(line["net_amount"]) if status == "success" else 0
    return Reported(f"flw:{line['id']}", amount_minor, 0, currency, status, "", changed_at)


def kobo_of(naira: Any) -> int:
    """Naira in whole kobo: a calculated fee may have more decimals."""
    return int((Decimal(naira) * 100).to_integral_value(ROUND_HALF_UP))


def _text(value: Any) -> str:
    return "" if value is None else str(value)
